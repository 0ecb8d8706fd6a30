# SPDX-License-Identifier: Apache-2.0
"""The command line."""
import argparse
import os
from collections.abc import Sequence

from front_end.bazel import ROOT
from front_end.options import list_of, one_of

from .suite import SUITE

_FULL = os.path.join("docs", "results")
_QUICK = "quick-results"

_DESCRIPTION = """\
Runs the experiments of the OptiReduce and Ultima papers with what is built
here, and writes raw data, pictures and a report of them. What has been measured
is kept: interrupted, it goes on where it was.
"""

_EPILOG = """\
experiments
{experiments}

results
  FOLDER/README.md     the report, as Markdown with pictures
  FOLDER/index.html    the same as one page that opens without a network
  FOLDER/raw           what each command wrote, with commit, machine and date

examples
  sudo benchmark/experiments --quick
  sudo benchmark/experiments --out my-results
  benchmark/experiments --report
  sudo benchmark/experiments --only stragglers --again

exit code
  0 all was measured; 1 something failed, which the report names; 2 wrong
  arguments; 130 interrupted
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="benchmark/experiments", description=_DESCRIPTION,
        epilog=_EPILOG.format(experiments="\n".join(
            f"  {experiment.name:12} {experiment.title}"
            for experiment in SUITE.values())),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False)
    parser.add_argument(
        "--quick", action="store_true",
        help="of each what tells most in a minute or two: under 10 minutes in "
        "all, where the full suite takes up to 150")
    parser.add_argument(
        "--only", type=list_of(one_of(SUITE), "experiment"), metavar="A,B",
        default=tuple(SUITE), help="default: all")
    parser.add_argument(
        "--out", metavar="FOLDER",
        help=f"of the results (default: {_FULL}; with --quick {_QUICK})")
    parser.add_argument(
        "--list", action="store_true",
        help="say what would be measured, and how long that takes")
    parser.add_argument(
        "--report", action="store_true",
        help="write the report of what has been measured, and measure nothing")
    parser.add_argument(
        "--again", action="store_true",
        help="measure what has been measured, too")
    parser.add_argument(  # only checks the arguments
        "--only-check", action="store_true", help=argparse.SUPPRESS)
    return parser


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Ends the process if an argument is wrong."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    arguments.experiments = [SUITE[name] for name in arguments.only]
    measures = not (arguments.list or arguments.report)
    if arguments.again and not measures:
        parser.error("--again measures, --list and --report do not; leave it "
                     "out")
    need_root = [experiment.name for experiment in arguments.experiments
                 if experiment.needs_root]
    if measures and need_root and os.geteuid() != 0:
        parser.error(f"{', '.join(need_root)}: the lab needs root, to make "
                     "namespaces and links of its own; run this with sudo, or "
                     "name others with --only")
    default = os.path.join(ROOT, _QUICK if arguments.quick else _FULL)
    arguments.out = os.path.abspath(arguments.out or default)
    if os.path.exists(arguments.out) and not os.path.isdir(arguments.out):
        parser.error(f"--out: '{arguments.out}' is no folder")
    return arguments
