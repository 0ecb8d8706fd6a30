# SPDX-License-Identifier: Apache-2.0
"""Builds the simulator, runs it and shows the results."""
import argparse
import json
import sys
from collections.abc import Sequence

from front_end import bazel
from front_end.columns import align, three_digits
from front_end.commands import run_command
from front_end.errors import EXIT_FAILED

from . import arguments as command_line
from .jobs import jobs, row
from .simulator import TARGET, Simulator


def _rows(arguments: argparse.Namespace, measure: str) -> list[dict]:
    wanted = jobs(arguments)
    with Simulator(measure, arguments.processes) as simulator:
        # The last jobs of the list usually take longest. They start first, so
        # that no processor is idle at the end.
        reports = simulator.run([job.command for job in wanted[::-1]])[::-1]
    return [row(wanted[first:first + arguments.seeds],
                reports[first:first + arguments.seeds], arguments)
            for first in range(0, len(wanted), arguments.seeds)]


def _render(rows: Sequence[dict]) -> str:
    lines = [["algorithm", "ranks", "tail", "n", "p50 ms", "p99 ms", "lost"]]
    for own in rows:
        lost = own["loss_fraction"]
        lines.append([
            own["algorithm"], str(own["ranks"]),
            own["lab"] or f"{own['tail']:g}", str(own["iterations"]),
            three_digits(own["p50_ms"]), three_digits(own["p99_ms"]),
            "0" if lost == 0 else f"{lost:.2g}"])
    return "\n".join(align(lines, 1)) + "\n"


def _main(argv: Sequence[str]) -> int:
    arguments = command_line.parse(argv)
    if arguments.only_check:
        return 0
    rows = _rows(arguments, arguments.binary or bazel.build(TARGET))
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
            file.write("\n")
    print(_render(rows), end="")
    failed = [own for own in rows if own["failed"]]
    for own in failed:
        print(f"error: {own['algorithm']} with {own['ranks']} ranks: "
              f"{own['failed']}", file=sys.stderr)
    return EXIT_FAILED if failed else 0


def main(argv: Sequence[str]) -> int:
    return run_command(_main, argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
