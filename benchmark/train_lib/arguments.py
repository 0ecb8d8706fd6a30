# SPDX-License-Identifier: Apache-2.0
"""The command line."""
import argparse
import os
from collections.abc import Sequence

from front_end.options import (
    check_writable, list_of, one_of, picture, positive)

from lab_lib import options as lab_options

from .algorithms import KNOWN
from .models import MODELS, Model
from .pytorch import DEBIANS

_RANKS = 4

DESCRIPTION = """\
Trains a small model on local ranks, once with each allreduce algorithm and
seed, and shows what that costs in time and does to loss and accuracy.

The scripts, in benchmark/training, are plain PyTorch with backend="gloo" and
DistributedDataParallel; a preloaded library gives them the algorithm:
LD_PRELOAD=libgloo_ubt.so GLOO_ALGO=optireduce. It works alike with scripts of
your own. GLOO_UBT_* variables (docs/configuration.md) are passed on.
"""

EPILOG = """\
models
{models}

algorithms
  gloo        PyTorch's own, without this project's library
  ring, bcube, halving_doubling, transpose, hierarchical_transpose
              exact ones, over TCP; the last in groups (GLOO_UBT_GROUPS)
  optireduce  bounded in time, over UDP: what is late is left out of the mean.
              The first 20 allreduces of a size are exact and teach the bound
  optireduce:none, optireduce:broadcast, optireduce:both
              with that repair policy (GLOO_UBT_REPAIR)
  hierarchical_optireduce
              likewise in groups (GLOO_UBT_GROUPS)

what the columns mean
  seconds     of training, from the first step on; evaluations are left out
  ms a step   seconds over steps
  loss        of the last steps, at most 10, averaged over the ranks
  accuracy    after the last step, on what was held out: images named, or next
              characters guessed, rightly
  lost        of what bounded allreduces were to sum, the share that is missing
              in a rank's results, the mean over ranks; empty: none was bounded
  divergence  of the ranks' models after the last step: the largest distance
              from their mean, over the length of that mean; 0: they are equal

examples
  benchmark/train --model fashion --plot fashion.png
  benchmark/train --model bible --steps 300 --seeds 1,2,3 --json runs.json
  benchmark/train --model bible-tuned --steps 100
  benchmark/train --model fashion --python venv/bin/python \\
      --algorithms gloo,ring,optireduce
  GLOO_UBT_FAULT=loss:0.01 benchmark/train --model fashion
  sudo benchmark/train --model fashion --lab p3

exit code
  0 all has been trained; 1 something failed; 2 wrong arguments
"""


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 1 << 31:
        raise argparse.ArgumentTypeError(
            f"'{text}' is no seed; write numbers from 0 on, for example 1,2,3")
    return int(text)


def _describe(model: Model) -> str:
    indented = model.about.replace("\n", "\n" + 14 * " ")
    return f"  {model.name:11} {indented}"


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="benchmark/train", description=DESCRIPTION,
        epilog=EPILOG.format(models="\n".join(map(_describe, MODELS.values()))),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False)
    what = parser.add_argument_group("what to train")
    what.add_argument(
        "--model", type=one_of(tuple(MODELS)), required=True, metavar="NAME",
        help="one of those below")
    what.add_argument(
        "--algorithms", type=list_of(one_of(KNOWN), "algorithm"),
        default=("ring", "optireduce"), metavar="A,B",
        help="in this order (default: ring,optireduce)")
    what.add_argument(
        "--epochs", type=positive(int), default=1, metavar="N",
        help="passes over the data (default: 1)")
    what.add_argument(
        "--steps", type=positive(int), metavar="N",
        help="end after so many, if the epochs have more")
    what.add_argument(
        "--evaluate-every", type=positive(int), metavar="STEPS",
        help="besides after each epoch (default: a fifth of all steps)")
    what.add_argument(
        "--seeds", type=list_of(_seed, "seed"), default=(1,), metavar="N,M",
        help="train once with each, of weights and order (default: 1)")
    what.add_argument(
        "--data", metavar="PATH", help="fashion: a folder with MNIST's four "
        "files; others: a text (default: Debian's packages)")
    where = parser.add_argument_group("where")
    where.add_argument(
        "--ranks", type=positive(int), metavar="N",
        help="processes on this machine, of a thread each (default: "
        f"{_RANKS}), or hosts of a lab ({lab_options.HOSTS})")
    where.add_argument(
        "--python", default=DEBIANS, metavar="PATH",
        help=f"with PyTorch 1.13 or later (default: Debian's {DEBIANS})")
    out = parser.add_argument_group("results")
    out.add_argument(
        "--json", metavar="FILE", help="write all runs with their curves")
    out.add_argument(
        "--plot", type=picture, metavar="FILE.png",
        help="draw loss and accuracy against steps and against time")
    lab_options.add(parser, "in a lab: hosts on this machine, made for this",
                    "--lab", "--lab-")
    parser.add_argument("--library", help=argparse.SUPPRESS)
    parser.add_argument(  # also prints the package lists to install
        "--only-check", action="store_true", help=argparse.SUPPRESS)
    return parser


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Ends the process if an argument is wrong."""
    parser = make_parser()
    arguments = parser.parse_args(argv)
    arguments.in_lab = lab_options.settings(
        parser, arguments, "--lab-", arguments.ranks, "--ranks")
    arguments.ranks = arguments.ranks or (
        arguments.in_lab.hosts if arguments.in_lab else _RANKS)
    for option, path in (("--json", arguments.json),
                         ("--plot", arguments.plot)):
        if path is not None:
            check_writable(parser, option, path)
    if arguments.data is not None:
        if MODELS[arguments.model].data_is_folder:
            kind, exists = "folder", os.path.isdir(arguments.data)
        else:
            kind, exists = "file", os.path.isfile(arguments.data)
        if not exists:
            parser.error(f"--data: there is no {kind} '{arguments.data}', "
                         f"which --model {arguments.model} needs")
    return arguments


def package_lists(arguments: argparse.Namespace) -> list[str]:
    """The lists in third_party whose packages `arguments` need."""
    lists = ["packages.txt"]
    if arguments.data is None:
        lists.append("training_packages.txt")
    if arguments.python == DEBIANS:
        lists.append("torch_packages.txt")
    return lists
