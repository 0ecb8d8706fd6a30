# SPDX-License-Identifier: Apache-2.0
"""The simulator's network, as commands describe it."""
import argparse
import re

from front_end.options import at_least, between, list_of, positive

from .lab import schedule
from .lab.environments import (ANY, EACH, ENVIRONMENTS, Environment,
                               parse as environment)
from .lab.settings import Links

_NS = 0.001  # in us; times are multiples of it
_SHORT = " has to be a nanosecond, at least"
_TAIL = at_least(1, ": a tail, P99/50, is at least 1")
# Defaults without --lab, which sets all of these.
_NETWORK = {"gbit": 10.0, "mtu": 9000, "latency": 50.0, "tail": (1.0,),
            "every": 10.0, "window": 16 << 20, "looks": 20.0}

_QUEUE_MS = 4  # capacity of a port's queue, in time
# The lateness that quiet hosts measure after the initial assumption has
# decayed. (The lab's hosts are busy and keep the assumption.)
_LATENESS_US = 100
# The kernel of the lab's machine passes a train on as one packet
# (LinkRate::kTrainBytesMax). Ports of a real switch see its datagrams.
_TRAIN_BYTES = 64256
# Defaults of the real transport (transport_ubt/core/session/endpoint.h and
# settings.h). The simulator's own defaults are for small jobs.
_SOCKET = {"window_bytes": 16777216, "window_bytes_min": 65536,
           "arena_bytes": 268435456}
_ALSO = re.compile(r"[a-z0-9_]+=-?[0-9.]+(e-?[0-9]+)?")
# What --also may not set, because rows tell it from other options.
_SAID = ("seed", "ranks", "groups", "one_shape", "ops", "elements_max",
         "no_data", "warmup_ops")
_HEADERS = 28 + 32  # IP's and UDP's, then the protocol's
_SLOT_STEP = 32


def why_not(kind: Environment) -> str | None:
    """Why the environment cannot be simulated; None if it can."""
    if kind.flows:
        return "the simulator knows no TCP flows"
    if kind.lateness and kind.lateness.who == ANY:
        return "in the simulator one rank is late, always the same, or each"
    if kind.stalls and kind.stalls.processes:
        return "the simulator does not stop processes now and then"
    return None


def _also(text: str) -> dict[str, str]:
    """Values by name. The simulator knows the names."""
    found: dict[str, str] = {}
    for word in text.split(","):
        name, _, value = word.partition("=")
        if not _ALSO.fullmatch(word):
            raise argparse.ArgumentTypeError(
                f"'{word}' is not a name and a number; write for example "
                "reorder=0.05")
        if name in _SAID or name in found:
            raise argparse.ArgumentTypeError(
                f"'{name}': another option says that" if name in _SAID
                else f"'{name}' has two values")
        found[name] = value
    return found


def lab(text: str) -> Environment:
    kind = environment(text)
    why = why_not(kind)
    if why:
        raise argparse.ArgumentTypeError(
            f"'{text}': {why}; try benchmark/compare --lab {text}, or one of: "
            + ", ".join(name for name, other in ENVIRONMENTS.items()
                        if why_not(other) is None))
    return kind


def add_lab(network: argparse._ArgumentGroup) -> None:
    network.add_argument(
        "--lab", type=lab, metavar="NAME",
        help="links and competing traffic of benchmark/compare --lab: "
        + ", ".join(name for name, kind in ENVIRONMENTS.items()
                    if why_not(kind) is None) + ", lossy:0.05")


def add_options(network: argparse._ArgumentGroup) -> None:
    """Adds the options of a network that is no lab's."""
    network.add_argument(
        "--gbit", type=positive(float), metavar="G",
        help="rate of each rank's link, in Gbit/s (default: 10)")
    network.add_argument(
        "--mtu", type=between(576, 65535, "a number"), metavar="BYTES",
        help="of optireduce's packets (default: 9000)")
    network.add_argument(
        "--latency", type=at_least(_NS, _SHORT), metavar="US",
        help="median delay of a path from rank to rank, without links and "
        "queues, in microseconds (default: 50)")
    network.add_argument(
        "--tail", type=list_of(_TAIL, "tail"), metavar="P99/50,...",
        help="99th percentile of a path's delay over its median (default: 1)")
    network.add_argument(
        "--every", type=at_least(_NS / 1000, _SHORT), metavar="MS",
        help="how long a path keeps its delay (default: 10)")
    network.add_argument(
        "--window", type=positive(int), metavar="BYTES",
        help="the most bytes that may be under way to one rank, of optireduce "
        "(default: 16777216, as GLOO_UBT_WINDOW_BYTES). The window follows "
        "the measured rate")
    network.add_argument(
        "--looks", type=at_least(0, " has to be a number, from 0 on"),
        metavar="US",
        help="how often a host of optireduce looks for packets, and at its "
        "timers, in microseconds (default: 20; 0: whenever something comes)")
    network.add_argument(
        "--also", type=_also, metavar="NAME=V,...", default={},
        help="other options of optireduce's simulated job, for example "
        "reorder=0.05 or queue_bytes=131072 (transport_ubt/sim/sim_options.h; "
        "sim_options.cc has the names). Exact algorithms know few of them")


def complete(parser: argparse.ArgumentParser,
             arguments: argparse.Namespace, fewest: int) -> None:
    """Fills in the network's defaults, or checks the lab's environment.
    `fewest`: the smallest number of ranks."""
    if not arguments.lab:
        for name, default in _NETWORK.items():
            if getattr(arguments, name) is None:
                setattr(arguments, name, default)
        return
    for name in _NETWORK:
        if getattr(arguments, name) is not None:
            parser.error(f"--{name}: --lab {arguments.lab.name} says that; "
                         "leave out one of them")
    if fewest < arguments.lab.hosts_min:
        parser.error(f"--ranks {fewest}: --lab "
                     f"{arguments.lab.name} takes {arguments.lab.hosts_min}")


def options_of(arguments: argparse.Namespace, tail: float | None, seed: int,
               ranks: int) -> dict[str, object]:
    """Options of transport_ubt/sim/sim_options.h, without those of --also.
    `tail`: of paths; None: the lab's environment says all. REQUIRES
    complete()."""
    return (lab_options(arguments.lab, seed, ranks) if tail is None
            else _network(arguments, tail))


def _slot_bytes(mtu: int) -> int:
    """The payload of one packet of the protocol."""
    return (mtu - _HEADERS) // _SLOT_STEP * _SLOT_STEP


def lab_options(kind: Environment, seed: int, ranks: int) -> dict[str, object]:
    """The lab's default links and an environment's traffic, as options of
    transport_ubt/sim/sim_options.h. REQUIRES that why_not() is None."""
    links = Links()
    own: dict[str, object] = {
        "slot_bytes": _slot_bytes(links.mtu),
        "bytes_per_second": links.rate_mbit * 1e6 / 8,
        "queue_bytes": links.queue_bytes, "train_bytes": _TRAIN_BYTES,
        "loss": kind.loss}
    bursts = kind.bursts
    if bursts:
        own |= {"burst_every_ns": _ns(bursts.period_s),
                "burst_least_ns": _ns(bursts.seconds[0]),
                "burst_most_ns": _ns(bursts.seconds[1]),
                "burst_sources": bursts.sources, "burst_share": bursts.share}
    stalls = kind.stalls
    if stalls:
        own |= {"stall_gap_ns": _ns(stalls.gap_s),
                "stall_least_ns": _ns(stalls.seconds[0]),
                "stall_most_ns": _ns(stalls.seconds[1])}
    late = schedule.late(kind, seed, ranks)
    if late:
        own |= {"late_rank": -1 if late.who == EACH else late.who,
                "late_ops": late.share, "late_by_ns": _ns(late.seconds)}
    return own | _SOCKET


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)


def _network(arguments: argparse.Namespace, tail: float) -> dict[str, object]:
    per_second = arguments.gbit * 1e9 / 8
    return {
        "slot_bytes": _slot_bytes(arguments.mtu),
        "bytes_per_second": per_second,
        "queue_bytes": round(per_second * _QUEUE_MS / 1000),
        "path_delay_ns": round(arguments.latency * 1000),
        "path_tail": tail, "delay_ns": 1000,
        "path_every_ns": round(arguments.every * 1e6),
        "wakes_every_ns": round(1000 * arguments.looks),
        "lateness_ns": _LATENESS_US * 1000,
        "window_bytes": arguments.window,
        "window_bytes_min": min(arguments.window, _SOCKET["window_bytes_min"]),
        "arena_bytes": 1 << 30}


def given(arguments: argparse.Namespace) -> str | None:
    """An option of add_options() that was given; None: none was."""
    names = [*_NETWORK, "also"]
    return next((f"--{name}" for name in names if getattr(arguments, name)),
                None)
