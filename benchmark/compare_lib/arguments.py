# SPDX-License-Identifier: Apache-2.0
"""The command line."""
import argparse
import socket

from front_end.options import check_writable, picture, positive

from lab_lib import options as lab_options
from lab_lib.network import INTERFACE

from . import algorithms

DEFAULT_ELEMENTS = (65536, 1048576, 6553600)
LAB_ELEMENTS = 1000000
MAX_ELEMENTS = 1 << 29

DESCRIPTION = """\
Compares allreduce algorithms (sums of floats) side by side, in one run:
one iteration of each in turn, so that noise meets all of them alike.

Without --rank, everything happens on this machine: a private Redis and
--ranks processes are started, and ended again.
"""

EPILOG = """\
algorithms
  ring, ring_chunked, halving_doubling, bcube   Gloo's own, over its tcp
  transpose         exact: each shard goes to its owner, and back, over tcp
  hierarchical_transpose
                    likewise within groups of ranks, whose owners exchange their
                    sums (GLOO_UBT_GROUPS); only when named
  optireduce        transpose over ubt: unreliable, bounded in time; repairs as
                    GLOO_UBT_REPAIR says (broadcast, if not set)
  optireduce:none, optireduce:broadcast, optireduce:both
                    with that repair policy; only when named
  hierarchical_optireduce
                    optireduce in groups (GLOO_UBT_GROUPS); only when named

what the columns mean
  p50 ... p99.9   time of an iteration, taken at the slowest rank; p99.9 only
                  with at least 1,000 iterations; warm-up is not timed
  algbw, busbw    bytes / p50, and that times 2 (N - 1) / N: what has to cross
                  each rank's link
  CPU s/GB        CPU seconds of all ranks per rank and 1e9 bytes
  lost            fraction of (contributor, element) pairs that a result lacks
  bound           what the stages of a bounded allreduce may take together;
                  of n iterations, so many were bounded, so many expired
  in a lab, where the turns of an algorithm take a second:
  wire            what hosts sent over their links, all headers counted, as a
                  fraction of what the links can carry
  CPU idle        of this machine's CPUs, which all hosts share: without any
                  left, times are the machine's, not the network's
  others'         what everything outside the lab took of them
  flow Mbit/s     what each TCP flow of `mixed` got meanwhile, headers not
                  counted
  verified        results, checked several times a second, are right: equal in
                  every bit where sums are exact, within n * eps * sum|x| of
                  the reported contributors' sum where they are not (some
                  times that in shards that travelled transformed)

examples
  benchmark/compare
  benchmark/compare --ranks 8 --elements 65536 --seconds 10 --plot cdf.png
  benchmark/compare --algorithms ring_chunked,transpose --json rows.json

  in a network of this machine's own, with competing traffic (docs/lab.md):
  sudo benchmark/compare --lab p3 --algorithms ring_chunked,optireduce

  on several hosts (here with Slurm; any launcher that gives ranks will do):
  srun benchmark/compare --rank $SLURM_PROCID --size $SLURM_NTASKS \\
      --redis-url redis://head-node:6379 --interface eth0

exit code
  0 all rows sound; 1 something failed; 2 wrong arguments; 3 a result was wrong
  or a bounded algorithm never took its bounded path
"""


def _elements(text):
    values = []
    for word in text.split(","):
        try:
            value = int(word)
        except ValueError:
            value = 0
        if not 1 <= value <= MAX_ELEMENTS:
            raise argparse.ArgumentTypeError(
                f"'{word}' is not a number of floats from 1 to "
                f"{MAX_ELEMENTS}; write for example 65536,1048576")
        values.append(value)
    return tuple(values)


def _redis_url(text):
    if not text.startswith(("redis://", "unix://")):
        raise argparse.ArgumentTypeError(
            f"'{text}' is no address of a Redis; write redis://host:port or "
            "unix:///path")
    return text


def make_parser():
    parser = argparse.ArgumentParser(
        prog="benchmark/compare", description=DESCRIPTION, epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False)
    what = parser.add_argument_group("what to compare")
    what.add_argument(
        "--algorithms", metavar="A,B", default="",
        help="in this order (default: those below)")
    what.add_argument(
        "--elements", type=_elements, metavar="N,M",
        help="sizes, in floats (default: "
        + ",".join(map(str, DEFAULT_ELEMENTS))
        + f"; in a lab {LAB_ELEMENTS})")
    what.add_argument(
        "--seconds", type=positive(float), metavar="S",
        help="per algorithm and size (default: 5; in a lab 20)")
    out = parser.add_argument_group("results")
    out.add_argument(
        "--json", metavar="FILE",
        help="write all rows, as a list, with the percentiles 0 to 100 of each "
        "and what the largest process has had in memory by then, at most, for "
        "all algorithms together (with --rank: rank 0 alone does)")
    out.add_argument(
        "--plot", type=picture, metavar="FILE.png",
        help="draw the distributions of latencies (likewise)")
    where = parser.add_argument_group("where")
    where.add_argument(
        "--ranks", type=positive(int), metavar="N",
        help="processes on this machine (default: 4), or hosts of a lab (8)")
    where.add_argument(
        "--interface", metavar="NAME", help="network interface (default: lo, "
        "or with --rank the one that the host's name belongs to)")
    where.add_argument(
        "--rank", type=int, metavar="R",
        help="be this one of --size processes, started elsewhere")
    where.add_argument("--size", type=positive(int), metavar="N")
    where.add_argument(
        "--redis-url", type=_redis_url, metavar="URL",
        help="where they meet: redis://[user:password@]host[:port][/db] or "
        "unix:///path")
    where.add_argument(
        "--prefix", default="compare", metavar="NAME",
        help="tells comparisons apart that meet at one Redis")
    lab_options.add(parser, "in a lab: hosts on this machine, made for this",
                    "--lab", "--lab-")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument(  # only checks the arguments
        "--only-check", action="store_true", help=argparse.SUPPRESS)
    return parser


def _check_lab(parser, arguments):
    if not arguments.local:
        parser.error("--lab makes its own hosts on this machine; leave out "
                     "--rank, --size and --redis-url")
    if arguments.interface is not None:
        parser.error("--lab gives its hosts their interface; leave out "
                     "--interface")


def parse(argv):
    """Ends the process or raises CompareError if an argument is wrong."""
    parser = make_parser()
    arguments = parser.parse_args(argv)
    single = {"--rank": arguments.rank, "--size": arguments.size,
              "--redis-url": arguments.redis_url}
    missing = [name for name, value in single.items() if value is None]
    if missing and len(missing) < len(single):
        parser.error(f"{', '.join(missing)}: missing; --rank, --size and "
                     "--redis-url go together")
    arguments.local = bool(missing)
    arguments.shows = arguments.local or arguments.rank == 0
    if not arguments.local:
        if arguments.ranks is not None:
            parser.error("--ranks is for one machine; with --rank, --size "
                         "says how many there are")
        if not 0 <= arguments.rank < arguments.size:
            parser.error(f"--rank {arguments.rank}: has to be from 0 to "
                         f"{arguments.size - 1} with --size {arguments.size}")
    arguments.in_lab = lab_options.settings(
        parser, arguments, "--lab-", arguments.ranks, "--ranks")
    if arguments.in_lab is not None:
        _check_lab(parser, arguments)
        arguments.ranks = arguments.in_lab.hosts
        arguments.interface = INTERFACE
    arguments.ranks = arguments.size or arguments.ranks or 4
    if arguments.elements is None:
        arguments.elements = ((LAB_ELEMENTS,) if arguments.in_lab
                              else DEFAULT_ELEMENTS)
    arguments.seconds = arguments.seconds or (20.0 if arguments.in_lab else 5.0)
    for option, path in (("--json", arguments.json),
                         ("--plot", arguments.plot)):
        if path is not None and arguments.shows:
            check_writable(parser, option, path)
    if arguments.interface is None and arguments.local:
        arguments.interface = "lo"
    known = [name for _, name in socket.if_nameindex()]
    if arguments.in_lab:
        known.append(arguments.interface)
    if arguments.interface is not None and arguments.interface not in known:
        parser.error(f"--interface {arguments.interface}: this host has only "
                     + ", ".join(known))
    # The worker checks the same, but must be built first.
    algorithms.choose(arguments.algorithms, algorithms.known(arguments.ranks))
    return arguments
