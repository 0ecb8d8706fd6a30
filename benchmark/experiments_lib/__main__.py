# SPDX-License-Identifier: Apache-2.0
"""Measures, then writes the report."""
import os
import sys
from collections.abc import Sequence

from front_end.commands import run_command
from front_end.errors import EXIT_FAILED, UserError

from . import arguments as command_line
from . import report
from .measure import Steps, measure, missing, steps
from .store import Store
from .suite import SUITE


def _list(wanted: Steps, lacking: Steps) -> None:
    for experiment, part in wanted:
        state = ("" if (experiment, part) in lacking
                 else "  (measured)")
        print(f"{experiment.name:12} {part.name:32} "
              f"{part.seconds:5.0f} s{state}")
    seconds = sum(part.seconds for _, part in lacking)
    print(f"{len(lacking)} of {len(wanted)} parts to measure, about "
          f"{seconds / 60:.0f} minutes")


def _main(argv: Sequence[str]) -> int:
    arguments = command_line.parse(argv)
    if arguments.only_check:
        return 0
    store = Store(arguments.out, arguments.quick)
    wanted = steps(arguments.experiments, arguments.quick)
    lacking = wanted if arguments.again else missing(wanted, store)
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
    report.write(arguments.out, SUITE.values(), arguments.quick, store)
    for experiment, part in failed:
        print(f"error: {experiment.name}, {part.name}: "
              f"{store.failure(experiment, part).why}", file=sys.stderr)
    print(os.path.join(arguments.out, report.PAGE))
    return EXIT_FAILED if failed else 0


def main(argv: Sequence[str]) -> int:
    return run_command(_main, argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
