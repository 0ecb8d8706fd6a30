# SPDX-License-Identifier: Apache-2.0
"""The command line."""
import argparse
from collections.abc import Sequence

from front_end.options import check_writable, list_of, one_of, positive

from train_lib.algorithms import KNOWN, PLAIN
from train_lib.pytorch import DEBIANS

PRELOADED = "preloaded"
VARIANTS = (*KNOWN, PRELOADED)

_DESCRIPTION = """\
Times steps of PyTorch's DistributedDataParallel: ten linear layers, 26 MB of
gradients, little to compute. Each variant is a job of its own, and all of them
run at once, but one at a time has a turn of a few steps, over and over again:
what else the machine does meets all alike.
"""

_EPILOG = """\
variants
  gloo        PyTorch's own, without this project's library
  preloaded   the same with the library preloaded and GLOO_ALGO unset
  ring, bcube, halving_doubling, transpose, hierarchical_transpose, optireduce,
  hierarchical_optireduce
              the library's, by GLOO_ALGO

what the columns mean, rank 0's steps after the first thirty
  ms p50, p90, mean
              of a step: forward, backward with its allreduce, update
  p50 to ...  the p50 of a turn over that of the first variant's: their median
              and, in brackets, their quartiles

examples
  benchmark/steps --python venv/bin/python
  benchmark/steps --variants ring,optireduce --ranks 2 --turns 100

exit code
  0 all were timed; 1 something failed; 2 wrong arguments
"""


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Ends the process if an argument is wrong."""
    parser = argparse.ArgumentParser(
        prog="benchmark/steps", description=_DESCRIPTION, epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False)
    parser.add_argument(
        "--variants", type=list_of(one_of(VARIANTS), "variant"),
        default=(PLAIN, PRELOADED, "ring", "optireduce"), metavar="A,B",
        help="the first is what the others are compared with "
        "(default: gloo,preloaded,ring,optireduce)")
    parser.add_argument(
        "--turns", type=positive(int), default=40, metavar="N",
        help="of each variant (default: 40)")
    parser.add_argument(
        "--steps", type=positive(int), default=5, metavar="N",
        help="in a turn (default: 5)")
    parser.add_argument(
        "--ranks", type=positive(int), default=4, metavar="N",
        help="processes on this machine, of a thread each (default: 4)")
    parser.add_argument(
        "--python", default=DEBIANS, metavar="PATH",
        help=f"with PyTorch 1.13 or later (default: Debian's {DEBIANS})")
    parser.add_argument(
        "--json", metavar="FILE", help="write every step's time")
    parser.add_argument("--library", help=argparse.SUPPRESS)
    parser.add_argument("--only-check", action="store_true",
                        help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.json is not None:
        check_writable(parser, "--json", arguments.json)
    return arguments
