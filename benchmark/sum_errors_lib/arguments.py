# SPDX-License-Identifier: Apache-2.0
"""The command line."""
import argparse
from collections.abc import Callable, Sequence

from front_end.options import (between, check_writable, list_of, one_of,
                               positive)

from .algorithms import FILLS
from .losses import PATTERNS
from .measure import SHARDS

_RANKS_MAX = 64
_ELEMENTS_MAX = 100_000_000  # of each rank, in memory several times
_PACKET_MAX = 100_000
_SWITCH = {"on": True, "off": False}
_LOSSES = (0.01, 0.02, 0.05, 0.1)

_DESCRIPTION = """\
How far the sums of allreduces are off whose packets get lost and are not
repeated. Real sums of float32, but no network and no time: which packets are
lost is given, and what follows is arithmetic.
"""

_EPILOG = """\
what a lost packet does
  ring              reduce-scatter, then allgather, of as many shards as ranks.
                    The partial sum that it carried never arrives: the receiver
                    goes on with its own contribution alone, or in the allgather
                    with the partial sum that it has, and forwards that
  parameter_server  rank 0 takes all contributions and sends the sum to all. On
                    the way up: that contribution is left out. Down: filled in
  transpose         likewise, every rank a server of its shard (OptiReduce,
                    section 3.1)

patterns
  random    each packet is lost independently
  tail      of what a receiver should get in one stage, the last share in order
            of arrival: all senders' packets in turns, or a ring's steps one
            after the other. A server's stage is N - 1 whole buckets at one port

what stands in for a lost result
  local     N times the own contribution (GLOO_UBT_FILL's default)
  zero      zero
  partial   what a ring's rank has, always

inputs
  A signal that all ranks share plus noise of each rank's own (--noise). Both
  are drawn for each entry: a random sign, and a size whose logarithm is normal,
  with a standard deviation of 1. So tails are heavy, like gradients': of a
  million entries the largest is some 50 times the root of the mean square.

what the columns say, means over seeds; less is better
  mse       mean squared error of results against the exact mean, over ranks and
            entries, relative to the mean square of that: zeros have 1
  worst     the squared error of the entry that is most off, likewise
  bias      by what share results are too large, over all: zeros have -1
  lost      share of packets

examples
  benchmark/sum_errors --loss 0.05
  benchmark/sum_errors --patterns tail --hadamard off --rescale on --fills local
  benchmark/sum_errors --elements 100000 --seeds 10 --json rows.json

exit code
  0 all was measured; 2 wrong arguments; 130 interrupted
"""


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(
            f"'{text}' is no share of packets, from 0 to below 1; write for "
            "example 0.01,0.05")
    return value


def _switches(text: str) -> tuple[bool, ...]:
    parse: Callable[[str], tuple] = list_of(one_of(_SWITCH), "of on and off")
    return tuple(_SWITCH[word] for word in parse(text))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="benchmark/sum_errors", description=_DESCRIPTION, epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False)
    what = parser.add_argument_group("what")
    what.add_argument(
        "--algorithms", type=list_of(one_of(SHARDS), "algorithm"),
        default=tuple(SHARDS), metavar="A,B", help="default: all")
    what.add_argument(
        "--loss", type=list_of(_share, "share"), default=_LOSSES,
        metavar="P,Q", help="shares of packets that are lost (default: "
        + ",".join(map(str, _LOSSES)) + ")")
    what.add_argument(
        "--patterns", type=list_of(one_of(PATTERNS), "pattern"),
        default=tuple(PATTERNS), metavar="A,B",
        help="of losses (default: " + ",".join(PATTERNS) + ")")
    how = parser.add_argument_group("against losses; both sides, or one")
    how.add_argument(
        "--hadamard", type=_switches, default=(False, True),
        metavar="off,on",
        help="whether contributions travel transformed, in blocks of 64 spread "
        "over packets (default: off,on)")
    how.add_argument(
        "--rescale", type=_switches, default=(True, False), metavar="on,off",
        help="whether a sum that lacks contributors is multiplied by N / "
        "contributors (default: on,off)")
    how.add_argument(
        "--fills", type=list_of(one_of(FILLS), "fill"), default=tuple(FILLS),
        metavar="A,B",
        help="what stands in for a lost result, but in a ring (default: "
        + ",".join(FILLS) + ")")
    inputs = parser.add_argument_group("of which sums")
    inputs.add_argument(
        "--ranks", type=between(2, _RANKS_MAX, "a number"), default=8,
        metavar="N", help="default: 8")
    inputs.add_argument(
        "--elements", type=between(1, _ELEMENTS_MAX, "a number"),
        default=1000000, metavar="N",
        help="floats in an allreduce, rounded up to whole packets of each "
        "shard (default: 1000000)")
    inputs.add_argument(
        "--packet", type=between(1, _PACKET_MAX, "a number"), default=360,
        metavar="N",
        help="floats in a packet (default: 360)")
    inputs.add_argument(
        "--noise", type=positive(float), default=1.0, metavar="R",
        help="mean square of a rank's own noise, of the signal's (default: 1)")
    inputs.add_argument(
        "--seeds", type=positive(int), default=3, metavar="N",
        help="the seeds 1 to N, one allreduce each (default: 3)")
    parser.add_argument(
        "--json", metavar="FILE", help="write all rows, as a list")
    parser.add_argument(  # only checks the arguments
        "--only-check", action="store_true", help=argparse.SUPPRESS)
    return parser


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Ends the process if an argument is wrong."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.json is not None:
        check_writable(parser, "--json", arguments.json)
    return arguments
