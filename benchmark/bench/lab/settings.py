# SPDX-License-Identifier: Apache-2.0
"""The settings of a lab, and the options that choose them."""
import argparse
import dataclasses
import os

from front_end.options import between, positive

from . import schedule
from .environments import ENVIRONMENTS, Environment, parse

HOSTS_MAX = 64
ETHERNET_HEADER = 14  # counted by queues
_RATE_MIN, _RATE_MAX = 1, 100_000
_MTU_MIN, _MTU_MAX = 1280, 9000
_HOST_QUEUE_PACKETS = 1000
_TRAIN_BYTES_MAX = 65536  # the kernel's limit for a train


@dataclasses.dataclass(frozen=True)
class Links:
    rate_mbit: float = 500
    queue_bytes: int = 524288  # of a port, towards its host
    mtu: int = 1500
    segments: int = 0  # datagrams that stay together on a link; 0: all

    @property
    def host_queue_bytes(self) -> int:
        """A host's own queue: as long as Linux's usual one."""
        return _HOST_QUEUE_PACKETS * (self.mtu + ETHERNET_HEADER)


@dataclasses.dataclass(frozen=True)
class Settings:
    environment: Environment
    hosts: int = 8
    seed: int = 1
    links: Links = Links()
    flows: int = 0
    deaf: tuple[int, ...] = ()  # hosts that receive no multicast

    def __str__(self) -> str:
        links = self.links
        return (f"in a lab: {self.environment.name} ({self.environment.what}), "
                f"seed {self.seed}, {self.hosts} hosts at {links.rate_mbit:g} "
                f"Mbit/s, MTU {links.mtu}, queues of {links.queue_bytes} bytes")

    def about(self) -> dict[str, object]:
        """The settings as --json writes them."""
        return {"lab_environment": self.environment.name,
                "lab_rate_mbit": self.links.rate_mbit, "lab_seed": self.seed}

    def lateness(self) -> schedule.Late | None:
        """The rank that computes late, if there is one."""
        return schedule.late(self.environment, self.seed, self.hosts)


def _some_hosts(text: str) -> tuple[int, ...]:
    """The host numbers in a list such as "0,4-6"."""
    hosts: list[int] = []
    for word in text.split(","):
        first, dash, last = word.partition("-")
        last = last if dash else first
        if not (first.isdecimal() and last.isdecimal()
                and int(first) <= int(last) < HOSTS_MAX):
            raise argparse.ArgumentTypeError(
                f"'{word}' names no hosts; write for example 4-7 or 1,3")
        hosts += range(int(first), int(last) + 1)
    return tuple(sorted(set(hosts)))


def add_options(parser: argparse.ArgumentParser, title: str, lab: str,
                prefix: str) -> argparse._ActionsContainer:
    """Adds the option `lab`, which names the environment, and the others, each
    beginning with `prefix`. Returns their group."""
    group = parser.add_argument_group(title)

    def also(name: str, **about: object) -> None:
        group.add_argument(prefix + name, dest=f"lab_{name}", **about)

    group.add_argument(
        lab, type=parse, metavar="NAME", dest="lab",
        help="environment: " + ", ".join(ENVIRONMENTS) + ", or lossy:0.05 for "
        "another share of lost packets (docs/lab.md)")
    also("rate", type=positive(float), metavar="MBIT",
         help="rate of each host's link, in Mbit/s (default: "
         f"{Links.rate_mbit:.0f})")
    also("seed", type=between(0, (1 << 31) - 1, "a number"), metavar="N",
         help="seed of all random events of the environment (default: 1)")
    also("queue", type=positive(int), metavar="BYTES",
         help="length of the switch's queue to each host (default: "
         f"{Links.queue_bytes})")
    also("mtu", type=between(_MTU_MIN, _MTU_MAX, "a number"),
         metavar="BYTES", help=f"of all links (default: {Links.mtu})")
    also("segments", type=between(1, 64, "a number"), metavar="N",
         help="datagrams that may stay together on a link, which saves CPU "
         "time; they are lost together, too (default: 64 KiB of them)")
    also("flows", type=between(0, HOSTS_MAX - 1, "a number"), metavar="N",
         help="TCP flows that send all they can to one host (default: the "
         "environment's; mixed has 1)")
    also("deaf", type=_some_hosts, metavar="4-7",
         help="hosts that hear no multicast (default: none)")
    return group


def settings(parser: argparse.ArgumentParser, arguments: argparse.Namespace,
             prefix: str, hosts: int | None,
             hosts_option: str) -> Settings | None:
    """The requested settings. Ends the process if they are invalid."""
    given = {name.removeprefix("lab_"): value
             for name, value in vars(arguments).items()
             if name.startswith("lab_") and value is not None}
    environment = arguments.lab
    if environment is None:
        for name in given:
            parser.error(f"{prefix}{name}: there is no lab; name its "
                         "environment, for example with --lab clean")
        return None
    hosts = hosts or Settings.hosts
    links = Links(given.get("rate", Links.rate_mbit),
                  given.get("queue", Links.queue_bytes),
                  given.get("mtu", Links.mtu),
                  given.get("segments", Links.segments))
    flows = given.get("flows", environment.flows)
    least = max(environment.hosts_min, 1 + flows)
    if not least <= hosts <= HOSTS_MAX:
        parser.error(f"{hosts_option} {hosts}: in {environment.name} it has "
                     f"to be from {least} to {HOSTS_MAX}")
    if not _RATE_MIN <= links.rate_mbit <= _RATE_MAX:
        parser.error(f"{prefix}rate {links.rate_mbit:g}: has to be from "
                     f"{_RATE_MIN} to {_RATE_MAX} Mbit/s")
    segment = links.mtu + ETHERNET_HEADER
    together = _TRAIN_BYTES_MAX // links.mtu + 1
    shortest = min(links.segments or together, together) * segment
    if links.queue_bytes < shortest:
        parser.error(
            f"{prefix}queue {links.queue_bytes}: a train of segments would "
            f"never fit; at least {shortest}, or less with {prefix}segments")
    deaf = given.get("deaf", ())
    if deaf and deaf[-1] >= hosts:
        parser.error(f"{prefix}deaf: there is no host {deaf[-1]}; they are "
                     f"0 to {hosts - 1}")
    if os.geteuid() != 0:
        parser.error("a lab needs root, to make namespaces and links of its "
                     "own; run this with sudo")
    return Settings(environment, hosts, given.get("seed", 1), links, flows,
                    deaf)
