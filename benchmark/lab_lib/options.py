# SPDX-License-Identifier: Apache-2.0
"""The options by which a command is run in a lab."""
import argparse
import os

from front_end.options import one_of, positive

from .environments import ENVIRONMENTS
from .lab import Settings
from .network import HOSTS_MAX, Links

_HOSTS = 8


def seed(text: str) -> int:
    """A `type` for argparse."""
    if not text.isdecimal() or int(text) >= 1 << 31:
        raise argparse.ArgumentTypeError(
            f"'{text}' is no seed; write a number from 0 on")
    return int(text)


def add(parser: argparse.ArgumentParser, option: str) -> None:
    """`option`, which names the environment, and more that begin like it."""
    group = parser.add_argument_group(
        "in a lab", "hosts on this machine, made for the command (docs/lab.md)")
    group.add_argument(
        option, type=one_of(tuple(ENVIRONMENTS)), metavar="NAME",
        dest="lab", help="in this environment: " + ", ".join(ENVIRONMENTS))
    group.add_argument(
        f"{option}-rate", type=positive(float), metavar="MBIT", dest="lab_rate",
        help="of each host's link, in Mbit/s (default: "
        f"{Links.rate_mbit:.0f})")
    group.add_argument(
        f"{option}-seed", type=seed, metavar="N", dest="lab_seed",
        help="of the competing traffic (default: 1)")


def settings(parser: argparse.ArgumentParser, arguments: argparse.Namespace,
             hosts: int | None, hosts_option: str) -> Settings | None:
    """What was asked for; ends the process where that makes no sense."""
    if arguments.lab is None:
        for option in ("lab_rate", "lab_seed"):
            if getattr(arguments, option) is not None:
                name = option.replace("_", "-")
                parser.error(f"--{name}: there is no lab; name its "
                             "environment with --lab")
        return None
    check(parser)
    environment = ENVIRONMENTS[arguments.lab]
    hosts = hosts or _HOSTS
    least = 2 if not environment.bursts else 1 + environment.bursts.sources
    if not least <= hosts <= HOSTS_MAX:
        parser.error(f"{hosts_option} {hosts}: {environment.name} needs "
                     f"{least} to {HOSTS_MAX} hosts")
    rate = arguments.lab_rate or Links.rate_mbit
    chosen = 1 if arguments.lab_seed is None else arguments.lab_seed
    return Settings(environment, hosts, chosen,
                    Links(rate_mbit=rate))


def check(parser: argparse.ArgumentParser) -> None:
    """Ends the process where no lab can be made."""
    if os.geteuid() != 0:
        parser.error("a lab needs root, to make namespaces and links of its "
                     "own; run this with sudo")
