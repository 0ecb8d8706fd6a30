# SPDX-License-Identifier: Apache-2.0
"""Sums, compares, and shows the errors."""
import argparse
import json
import sys
from collections.abc import Sequence

from front_end.columns import align
from front_end.commands import run_command
from front_end.progress import Bar

from . import arguments as command_line
from .measure import Error, Job, jobs, measure, row


def _rows(arguments: argparse.Namespace) -> list[dict]:
    wanted = jobs(arguments)
    errors: dict[Job, list[Error]] = {job: [] for job in wanted}
    total = len(wanted) * arguments.seeds
    with Bar() as bar:
        bar.show("summing", completed=0, total=total)
        for done, (job, error) in enumerate(measure(wanted, arguments), 1):
            errors[job].append(error)
            bar.show(f"sum {done} of {total}", completed=done, total=total)
    return [row(job, own, arguments) for job, own in errors.items()]


def _error(value: float) -> str:
    return f"{value:.3g}"


def _render(rows: Sequence[dict]) -> str:
    """A table with a blank line between patterns and shares."""
    heading, *aligned = align(
        [["algorithm", "pattern", "hadamard", "rescale", "fill", "loss", "mse",
          "worst", "bias", "lost"],
         *([own["algorithm"], own["pattern"],
            "on" if own["hadamard"] else "off",
            "on" if own["rescales"] else "off", own["fill"],
            f"{own['loss']:g}", _error(own["mse"]), _error(own["worst_se"]),
            _error(own["bias"]), _error(own["lost_fraction"])]
           for own in rows)], 5)
    lines, previous = [heading], None
    for own, line in zip(rows, aligned):
        group = own["pattern"], own["loss"]
        lines += [line] if group == previous else ["", line]
        previous = group
    return "\n".join(lines) + "\n"


def _main(argv: Sequence[str]) -> int:
    arguments = command_line.parse(argv)
    if arguments.only_check:
        return 0
    rows = _rows(arguments)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
            file.write("\n")
    print(_render(rows), end="")
    return 0


def main(argv: Sequence[str]) -> int:
    return run_command(_main, argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
