# SPDX-License-Identifier: Apache-2.0
"""The command line."""
import argparse
import os
from collections.abc import Sequence

from front_end.options import (at_least, between, check_writable, list_of,
                               one_of, positive)
from lab_lib.environments import ENVIRONMENTS

from .jobs import ALGORITHMS, why_not
from .lab import why_not as lab_why_not
from .simulator import WARMUP_OPS

_RANKS_MAX = 4096
_BOUND_US_MAX = 10**9
_ELEMENTS_MAX = 1 << 30
_NS = 0.001  # in us; times are multiples of it
_TAIL = at_least(1, ": a tail, P99/50, is at least 1")
_LABS = {name: environment for name, environment in ENVIRONMENTS.items()
         if lab_why_not(environment) is None}
# Defaults without --lab, which sets all of these.
_NETWORK = {"gbit": 10.0, "mtu": 9000, "latency": 50.0, "tail": (1.0,),
            "every": 10.0, "window": 2 << 20, "looks": 20.0}

_DESCRIPTION = """\
Allreduces of any number of ranks, in virtual time on one simulated switch:
optireduce is the protocol itself, the others are what their messages take over
ideal connections, which lose and repeat nothing and share their host's link
evenly; their ranks begin an op once all have finished the one before. No data
is summed, and CPU time is none.
"""

_EPILOG = """\
algorithms
  ring, halving_doubling, tree (two binary trees, in chunks of 32 KiB),
  transpose, hierarchical_transpose (in --groups),
  optireduce:none, optireduce:broadcast, optireduce:both

what the columns mean
  tail       of ways, or the lab's environment
  p50, p99   ms of an allreduce, at its slowest rank (but for one that computes
             late); of optireduce after its warm-up
  lost       share of (contributor, element) pairs that results lack

examples
  benchmark/simulate --ranks 8,64 --algorithms ring,tree,optireduce:none
  benchmark/simulate --ranks 256 --gbit 100 --tail 3 --json rows.json
  benchmark/simulate --ranks 8 --lab p3 --algorithms ring,optireduce:none

exit code
  0 all was simulated; 1 some job failed, which is named; 2 wrong arguments
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="benchmark/simulate", description=_DESCRIPTION, epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False)
    what = parser.add_argument_group("what")
    what.add_argument(
        "--algorithms", type=list_of(one_of(ALGORITHMS), "algorithm"),
        default=("ring", "tree", "transpose", "optireduce:none"),
        metavar="A,B",
        help="default: ring,tree,transpose,optireduce:none")
    what.add_argument(
        "--ranks", type=list_of(between(2, _RANKS_MAX, "a number"), "number"),
        default=(8, 32),
        metavar="N,M", help="default: 8,32")
    what.add_argument(
        "--groups", type=positive(int), default=4, metavar="N",
        help="of hierarchical_transpose (default: 4)")
    what.add_argument(
        "--elements", type=between(1, _ELEMENTS_MAX, "a number"),
        default=1000000, metavar="N",
        help="floats in an allreduce (default: 1000000)")
    what.add_argument(
        "--ops", type=positive(int), default=20, metavar="N",
        help="of each seed (default: 20)")
    what.add_argument(
        "--warmup", type=positive(int), default=WARMUP_OPS, metavar="N",
        help="ops before those, of optireduce, which learn its bounds (default: "
        f"{WARMUP_OPS})")
    what.add_argument(
        "--bound", type=between(1, _BOUND_US_MAX, "a bound"), metavar="US",
        help="of each stage of optireduce, set by hand, in microseconds "
        "(default: learned). Ops of the warm-up stay exact, and no stage ends "
        "early")
    what.add_argument(
        "--seeds", type=positive(int), default=1, metavar="N",
        help="the seeds 1 to N (default: 1)")
    network = parser.add_argument_group("on which network")
    network.add_argument(
        "--lab", type=one_of(tuple(_LABS)), metavar="NAME",
        help="links and other people's traffic as in benchmark/compare --lab: "
        f"{', '.join(_LABS)}")
    network.add_argument(
        "--gbit", type=positive(float), metavar="G",
        help="of each rank's link, in Gbit/s (default: 10)")
    network.add_argument(
        "--mtu", type=positive(int), metavar="BYTES",
        help="of optireduce's packets (default: 9000)")
    network.add_argument(
        "--latency", type=positive(float), metavar="US",
        help="what a way from rank to rank takes in the middle, links and "
        "queues apart, in microseconds (default: 50)")
    network.add_argument(
        "--tail", type=list_of(_TAIL, "tail"), metavar="P99/50,...",
        help="how much longer one way of a hundred takes (default: 1)")
    network.add_argument(
        "--every", type=positive(float), metavar="MS",
        help="for how long a way stays as it is (default: 10)")
    network.add_argument(
        "--window", type=positive(int), metavar="BYTES",
        help="what may be under way to one rank, of optireduce (default: "
        "2097152, which a real one, if not told otherwise, grows to in half a "
        "second of traffic where packets do not wait for each other)")
    network.add_argument(
        "--looks", type=at_least(0, " has to be a number, from 0 on"),
        metavar="US",
        help="how often a host of optireduce looks for packets, and at its "
        "timers, in microseconds (default: 20; 0: whenever something comes)")
    parser.add_argument(
        "--processes", type=positive(int), metavar="N",
        help="that run at once (default: one for each CPU)")
    parser.add_argument(
        "--json", metavar="FILE", help="write all rows, as a list")
    parser.add_argument("--binary", help=argparse.SUPPRESS)
    parser.add_argument(  # only checks the arguments
        "--only-check", action="store_true", help=argparse.SUPPRESS)
    return parser


def _complete_network(parser: argparse.ArgumentParser,
                      arguments: argparse.Namespace) -> None:
    """Fills in the lab's environment or the network's defaults."""
    if not arguments.lab:
        for name, default in _NETWORK.items():
            if getattr(arguments, name) is None:
                setattr(arguments, name, default)
        if not 576 <= arguments.mtu <= 65535:
            parser.error(
                f"--mtu {arguments.mtu}: has to be from 576 to 65535")
        for name, us in (("latency", arguments.latency),
                         ("every", 1000 * arguments.every)):
            if us < _NS:
                parser.error(f"--{name}: has to be a nanosecond, at least")
        return
    arguments.lab = _LABS[arguments.lab]
    for name in _NETWORK:
        if getattr(arguments, name) is not None:
            parser.error(f"--{name}: --lab {arguments.lab.name} says that; "
                         "leave out one of them")
    if min(arguments.ranks) < arguments.lab.hosts_min:
        parser.error(f"--ranks {min(arguments.ranks)}: --lab "
                     f"{arguments.lab.name} takes {arguments.lab.hosts_min}")


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Ends the process if an argument is wrong."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    for ranks in arguments.ranks:
        for algorithm in arguments.algorithms:
            why = why_not(arguments, algorithm, ranks)
            if why:
                parser.error(f"--algorithms: {algorithm} {why}, not {ranks}")
    _complete_network(parser, arguments)
    if arguments.json is not None:
        check_writable(parser, "--json", arguments.json)
    arguments.processes = arguments.processes or os.cpu_count() or 1
    return arguments
