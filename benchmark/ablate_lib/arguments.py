# SPDX-License-Identifier: Apache-2.0
"""The command line."""
import argparse
import os
from collections.abc import Sequence

from front_end.options import (
    check_writable, list_of, one_of, picture, positive)

from . import environments
from .loops import HEAVY, LOOPS, REPAIR
from .simulated import options_of

ELEMENTS = 1000000  # as in the lab
_SEEDS, _SEEDS_MIN = 4, 3
_OPS, _SECONDS = 60, 20

_DESCRIPTION = """\
What each control loop and safeguard of the bounded allreduce buys: the same
job with everything as shipped, and with one thing switched off (or, of what is
off unless asked for, on), in several networks with 8 ranks at 500 Mbit/s.

In the simulator, which is the default, the protocol itself runs on a simulated
network in virtual time: it needs no root, other load does not matter, and the
same seeds give the same figures. In the lab (docs/lab.md) the real transport
runs on hosts made for it, all jobs of an environment in turns, as root.
"""

_EPILOG = """\
loops
{loops}

environments
  those of the lab (docs/lab.md); lossy:0.05 loses that share of all packets.
  Up to {heavy} loops are judged, from there on the safeguards zero-loss and
  halt-loss; from 0.01 on also skip-loss.
  Default: {environments}

what the tables say, means over seeds; less is better, of all of it
  baseline   everything as it is if nothing is set, but for --repair
  - NAME     without that loop; + NAME: with it, where it is not on by default.
             Those below a line NAME=VALUE are compared with that line
  p50, p99   ms of an op, at its slowest rank (but for one that computes late)
  loss       share of (contributor, element) pairs that results lack
  mse        mean squared error of results against the exact sums, relative to
             the mean square of these: zeros in place of results have 1. Ranks
             contribute independent random values
  worst      the squared error of an op's worst element, likewise
  drift      share of results' elements that are filled in, where replicas
             differ
  x1.25      so many times what it is compared with; * where the difference is
             larger than what differs between seeds, and no trifle

examples
  benchmark/ablate
  benchmark/ablate --loops early,x --environments p3,lossy --json rows.json
  benchmark/ablate --repair none --environments p3
  sudo benchmark/ablate --in lab --loops early --environments p3

exit code
  0 all was measured, and jobs that failed are named; 1 results were wrong, or
  it could not go on; 2 wrong arguments; 130 interrupted
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="benchmark/ablate", description=_DESCRIPTION,
        epilog=_EPILOG.format(
            environments=",".join(environments.DEFAULT), heavy=HEAVY,
            loops="\n".join(f"  {loop.name:15} {loop.what};\n"
                            f"  {'':15} without: {loop.instead}"
                            if loop.is_default else
                            f"  {loop.name:15} {loop.what};\n"
                            f"  {'':15} {loop.instead}"
                            for loop in LOOPS.values())),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False)
    parser.add_argument(
        "--in", type=one_of(("simulator", "lab")), default="simulator",
        metavar="simulator|lab", dest="place",
        help="where (default: simulator)")
    parser.add_argument(
        "--loops", type=list_of(one_of(LOOPS), "loop"),
        default=tuple(LOOPS), metavar="A,B", help="default: all")
    parser.add_argument(
        "--environments", metavar="A,B",
        type=list_of(environments.parse, "environment"),
        default=tuple(map(environments.parse, environments.DEFAULT)),
        help="networks (default: below)")
    parser.add_argument(
        "--repair", type=one_of(REPAIR), metavar="POLICY",
        default="broadcast",
        help="GLOO_UBT_REPAIR of the baseline (default: broadcast)")
    parser.add_argument(
        "--elements", type=positive(int), default=ELEMENTS, metavar="N",
        help=f"floats in an op (default: {ELEMENTS})")
    parser.add_argument(
        "--seeds", type=positive(int), default=_SEEDS, metavar="N",
        help=f"runs of each job, with the seeds 1 to N (default: {_SEEDS})")
    parser.add_argument(
        "--ops", type=positive(int), metavar="N",
        help="in the simulator: of each run, after warm-up "
        f"(default: {_OPS})")
    parser.add_argument(
        "--seconds", type=positive(float), metavar="S",
        help=f"in the lab: of each run (default: {_SECONDS})")
    parser.add_argument(
        "--processes", type=positive(int), metavar="N",
        help="in the simulator: that run at once (default: one for each CPU)")
    parser.add_argument(
        "--json", metavar="FILE", help="write what each run came to")
    parser.add_argument(
        "--plot", type=picture, metavar="FILE.png",
        help="draw what each loop buys in each environment")
    parser.add_argument("--binary", help=argparse.SUPPRESS)
    parser.add_argument(  # only checks the arguments
        "--only-check", action="store_true", help=argparse.SUPPRESS)
    return parser


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Ends the process or raises UserError if an argument is wrong."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.seeds < _SEEDS_MIN:
        parser.error(f"--seeds {arguments.seeds}: what differs between seeds "
                     f"is what says how sure a difference is; at least "
                     f"{_SEEDS_MIN}")
    only = {"--seconds": ("lab", arguments.seconds),
            "--ops": ("simulator", arguments.ops),
            "--processes": ("simulator", arguments.processes)}
    for option, (place, value) in only.items():
        if value is not None and place != arguments.place:
            parser.error(f"{option} is for --in {place}")
    if arguments.place == "lab":
        if os.geteuid() != 0:
            parser.error("--in lab needs root, to make namespaces and links "
                         "of its own; run this with sudo, or leave it out: "
                         "the simulator needs none")
    else:
        for environment in arguments.environments:
            options_of(environment, 1, 1, 1)  # raises UserError if unsupported
    arguments.ops = arguments.ops or _OPS
    arguments.seconds = arguments.seconds or _SECONDS
    arguments.processes = arguments.processes or os.cpu_count() or 1
    arguments.loops = [LOOPS[name] for name in arguments.loops]
    for option, path in (("--json", arguments.json),
                         ("--plot", arguments.plot)):
        if path is not None:
            check_writable(parser, option, path)
    return arguments
