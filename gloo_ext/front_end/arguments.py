# SPDX-License-Identifier: Apache-2.0
"""What a command that runs scripts is asked to do."""
from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from .options import one_of, positive, unknown
from .program import Program
from .version import VERSION

ALGORITHMS = ("optireduce", "hierarchical_optireduce", "transpose",
              "hierarchical_transpose", "ring", "bcube", "halving_doubling")
REPAIRS = ("none", "broadcast", "both")
BOUNDED = ("all", "ddp")

_EPILOG = """\
on one host
  {name} --nproc-per-node 4 train.py --epochs 3

as one of many, which a launcher starts
  Leave --nproc-per-node out; ranks and sizes come from the launcher. The first
  rank's host is known under torchrun and srun, and where all are on one host;
  for mpirun on several, set MASTER_ADDR to it. MASTER_PORT may be set, too.

  torchrun --nproc_per_node 4 --no_python {name} train.py
  srun --ntasks 16 {name} train.py
  mpirun -n 4 {name} train.py
  MASTER_ADDR=host1 mpirun -n 16 --host host1:8,host2:8 -x MASTER_ADDR \\
      {name} train.py

by hand, with any launcher
  eval "$({name} --print-env)"
  torchrun --nproc_per_node 4 train.py

{note}
GLOO_UBT_* variables (docs/configuration.md) reach the ranks as they are.

Ctrl-C ends all ranks, and so does one that fails.

exit code
  0 every rank ended with 0; 2 wrong arguments; else that of the rank which is
  to blame, or 128 and the signal's number
"""


def parser(program: Program) -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(
        prog=program.name,
        epilog=_EPILOG.format(name=program.name, note=program.note),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        description="Runs a PyTorch script with backend=\"gloo\", untouched, "
        "over a bounded allreduce.")
    result.add_argument(
        "--nproc-per-node", "--nproc_per_node", type=positive(int),
        metavar="N",
        help="start N local ranks; without it, this is one rank of a "
        "launcher's job")
    result.add_argument(
        "--algo", type=one_of(ALGORITHMS), metavar="NAME",
        default=os.environ.get("GLOO_ALGO") or "optireduce",
        help=", ".join(ALGORITHMS) + " (GLOO_ALGO; default: that variable's "
        "or, if it is not set, optireduce)")
    result.add_argument(
        "--repair", type=one_of(REPAIRS), metavar="STAGES",
        help="what is asked for again when lost: " + ", ".join(REPAIRS)
        + " (GLOO_UBT_REPAIR)")
    result.add_argument(
        "--bound", metavar="TIME",
        help="a stage's bound, such as 20ms, instead of a learned one "
        "(GLOO_UBT_BOUND)")
    result.add_argument(
        "--min-bytes", metavar="BYTES",
        help="smallest bounded allreduce (GLOO_UBT_MIN_BYTES)")
    result.add_argument(
        "--bounded", type=one_of(BOUNDED), metavar="SUMS",
        help="what may be bounded: all large sums, or ddp: only gradients of "
        "DistributedDataParallel and FSDP (GLOO_UBT_BOUNDED)")
    result.add_argument(
        "--report", metavar="DIR",
        help="write a report on every call there (GLOO_UBT_REPORT)")
    result.add_argument(
        "--interface", metavar="NAME",
        help="the network interface, by name, address or network "
        "(10.0.0.0/8); after a ^, those to avoid (GLOO_SOCKET_IFNAME)")
    result.add_argument(
        "--python", metavar="PATH", default=program.python,
        help="the Python that has torch (default: %(default)s)")
    result.add_argument(
        "--print-env", action="store_true",
        help="print what to set to do the same by hand, and end")
    result.add_argument("--version", action="version",
                        version=f"gloo_ubt {VERSION}")
    result.add_argument("script", nargs="?", help="the training script")
    result.add_argument("arguments", nargs=argparse.REMAINDER,
                        help="its arguments")
    return result


def names_of(parsing: argparse.ArgumentParser) -> list[str]:
    """The long names of its options."""
    return [name for action in parsing._actions
            for name in action.option_strings if name.startswith("--")]


def parse(program: Program, words: Sequence[str]) -> argparse.Namespace:
    """The parsed arguments. Ends the process, with a message, if they are
    invalid."""
    parsing = parser(program)
    options, others = parsing.parse_known_args(words)
    if others:
        parsing.error(unknown(others[0].split("=")[0], names_of(parsing)))
    if options.script is None and not options.print_env:
        parsing.error(f"which script? {program.name} [options] train.py ...")
    return options
