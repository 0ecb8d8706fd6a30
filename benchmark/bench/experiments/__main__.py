# SPDX-License-Identifier: Apache-2.0
"""benchmark/experiments: measures, then writes the report."""
import argparse
import dataclasses
import os
import sys
from collections.abc import Sequence

from front_end.bazel import ROOT
from front_end.commands import run_command
from front_end.errors import EXIT_FAILED, UserError
from front_end.options import list_of, one_of

from .. import options
from . import report
from .experiment import Experiment, Part
from .measure import Steps, measure, missing, steps
from .store import Store
from .suite import SUITE

_FULL = os.path.join("docs", "results")
_QUICK = "quick-results"

_DESCRIPTION = """\
Runs the experiments of the OptiReduce and Ultima papers with this project's
algorithms, and writes raw data, tables and pictures. Results are kept: after an
interruption it goes on with the next part.
"""

_EPILOG = """\
experiments
{experiments}

results
  FOLDER/README.md    claims of the papers, and pictures
  FOLDER/NAME.md      a page for each experiment: its results, and the command,
                      seeds, commit, machine and date of each. Text outside of
                      the marks stays when the command writes a page again
  FOLDER/raw          output of each command, as JSON (xz -dc shows it)

examples
  sudo benchmark/experiments --quick
  sudo benchmark/experiments --out my-results
  benchmark/experiments --report
  sudo benchmark/experiments --only stragglers --again
  benchmark/experiments --only ablation,errors --out my-results

exit code
  0 all was measured; 1 something failed; 2 wrong arguments; 130 interrupted
"""


def _parser() -> argparse.ArgumentParser:
    parser = options.parser(
        "experiments", _DESCRIPTION, _EPILOG.format(experiments="\n".join(
            f"  {experiment.name:13} {experiment.title}"
            for experiment in SUITE.values())))
    parser.add_argument(
        "--quick", action="store_true",
        help="only the most telling parts of each: 10 minutes in all, where "
        "the full suite takes about 8 hours")
    parser.add_argument(
        "--only", type=list_of(one_of(SUITE), "experiment"), metavar="A,B",
        default=tuple(SUITE), help="default: all")
    parser.add_argument(
        "--out", metavar="FOLDER",
        help=f"of the results (default: {_FULL}; with --quick {_QUICK})")
    parser.add_argument(
        "--list", action="store_true",
        help="list all parts and how long they take; with --out only those "
        "that FOLDER lacks take time")
    parser.add_argument(
        "--report", action="store_true",
        help="write the report of earlier measurements, and measure nothing")
    parser.add_argument(
        "--again", action="store_true",
        help="measure everything, also what FOLDER has")
    parser.add_argument(
        "--python", metavar="PATH",
        help="with PyTorch 1.13 or later, for trainings (default: Debian's)")
    return parser


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Ends the process if an argument is wrong."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    measures = not (arguments.list or arguments.report)
    if arguments.again and not measures:
        parser.error("--again measures, --list and --report do not; leave it "
                     "out")
    need_root = [
        name for name in arguments.only
        if any(part.needs_root for part in SUITE[name].parts(arguments.quick))]
    if measures and need_root and os.geteuid() != 0:
        parser.error(f"{', '.join(need_root)}: the lab needs root, to make "
                     "namespaces and links of its own; run this with sudo, or "
                     "name others with --only")
    default = os.path.join(ROOT, _QUICK if arguments.quick else _FULL)
    arguments.looks = arguments.out is not None or not arguments.list
    arguments.out = os.path.abspath(arguments.out or default)
    if os.path.exists(arguments.out) and not os.path.isdir(arguments.out):
        parser.error(f"--out: '{arguments.out}' is no folder")
    return arguments


def _with_python(experiment: Experiment, path: str | None) -> Experiment:
    """The experiment with that Python for PyTorch; None: its own."""
    if path is None:
        return experiment
    more = ("--python", os.path.abspath(path))

    def parts(quick: bool) -> Sequence[Part]:
        return [dataclasses.replace(part, command=(*part.command, *more))
                if part.trains else part for part in experiment.parts(quick)]

    return dataclasses.replace(experiment, parts=parts)


def _list(wanted: Steps, lacking: Steps) -> None:
    for experiment, part in wanted:
        state = ("" if (experiment, part) in lacking
                 else "  (measured)")
        print(f"{experiment.name:13} {part.name:32} "
              f"{part.seconds:5.0f} s{state}")
    seconds = sum(part.seconds for _, part in lacking)
    print(f"{len(lacking)} of {len(wanted)} parts to measure, about "
          f"{seconds / 60:.0f} minutes")


def _main(argv: Sequence[str]) -> int:
    arguments = parse(argv)
    if arguments.only_check:
        return options.checked()
    store = Store(arguments.out, arguments.quick)
    suite = [_with_python(experiment, arguments.python)
             for experiment in SUITE.values()]
    wanted = steps([experiment for experiment in suite
                    if experiment.name in arguments.only], arguments.quick)
    lacking = (missing(wanted, store)
               if arguments.looks and not arguments.again else wanted)
    if arguments.list:
        _list(wanted, lacking)
        return 0
    try:
        report.prepare(arguments.out)
    except OSError as error:
        raise UserError(f"cannot write {error.filename}: {error.strerror}; "
                        "name another folder with --out") from error
    if not lacking and not arguments.report:
        print(f"nothing to measure: {arguments.out} has all {len(wanted)} "
              "parts; --again measures them anew, --out FOLDER leaves these "
              "as they are", file=sys.stderr)
    failed = [] if arguments.report else measure(lacking, store)
    report.write(arguments.out, suite, arguments.quick, store)
    for experiment, part, why in failed:
        print(f"error: {experiment.name}, {part.name}: {why}",
              file=sys.stderr)
    print(os.path.join(arguments.out, report.MAIN))
    return EXIT_FAILED if failed else 0


def main(argv: Sequence[str]) -> int:
    """Returns the exit code."""
    return run_command(_main, argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
