# SPDX-License-Identifier: Apache-2.0
"""Builds the programs, runs the jobs and prints the verdicts."""
import argparse
import json
import sys
import textwrap
from collections.abc import Sequence

from front_end import bazel
from front_end.commands import run_command
from front_end.errors import EXIT_FAILED, EXIT_USAGE, UserError
from lab_lib import isolation
from lab_lib.environments import Environment
from simulate_lib.simulator import Simulator, text_of

from . import arguments as command_line
from . import in_lab, plan, simulated, table
from .loops import LOOPS, REPAIR, Change
from .verdict import NOT_JUDGED, verdict

_COLUMNS = 79


def _simulate(arguments: argparse.Namespace, measure: str,
              jobs: Sequence[tuple[Environment, Change]],
              seeds: Sequence[int]) -> plan.Results:
    texts = [text_of(
        simulated.options_of(environment, seed, arguments.elements,
                             arguments.ops) | dict(change.simulator))
             for environment, change in jobs for seed in seeds]
    results = plan.Results()
    with Simulator(measure, arguments.processes) as simulator:
        reports = simulator.run([["--options", text] for text in texts])
    runs = [simulated.run_of(report, text)
            for report, text in zip(reports, texts)]
    for index, (environment, change) in enumerate(jobs):
        first = index * len(seeds)
        results.put(environment, change, runs[first:first + len(seeds)])
    return results


def _show(arguments: argparse.Namespace, trials: Sequence[plan.Trial],
          results: plan.Results, baseline: Change,
          seeds: Sequence[int]) -> None:
    print(f"in the {arguments.place}: 8 ranks, {arguments.elements} floats, "
          f"GLOO_UBT_REPAIR={arguments.repair}, seeds {seeds[0]} to "
          f"{seeds[-1]}\n")
    for own in plan.by_environment(trials).values():
        print(table.render(own, results, baseline))
    verdicts = {loop.name: verdict(loop, trials, results)
                for loop in arguments.loops}
    for name, text in verdicts.items():
        if text == NOT_JUDGED and len(arguments.loops) == len(LOOPS):
            continue  # not asked for by name
        print(textwrap.fill(f"{name} {text}", _COLUMNS, subsequent_indent="  ",
                            break_on_hyphens=False))
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"in": arguments.place, "elements": arguments.elements,
                       "repair": arguments.repair,
                       "rows": table.rows(trials, results, baseline, seeds),
                       "verdicts": verdicts}, file, indent=1)
            file.write("\n")
    if arguments.plot:
        from .plot import draw
        draw(trials, results, arguments.plot)


def _main(argv: Sequence[str]) -> int:
    arguments = command_line.parse(argv)
    baseline = REPAIR[arguments.repair]
    trials = plan.trials(arguments.loops, arguments.environments, baseline)
    if not trials:
        raise UserError("nothing to compare: none of these loops is judged "
                        "there (--help says which are where); name more with "
                        "--loops, or others with --environments", EXIT_USAGE)
    if arguments.only_check:
        return 0
    seeds = range(1, arguments.seeds + 1)
    jobs = [(own[0].environment, change)
            for own in plan.by_environment(trials).values()
            for change in plan.changes(own, baseline)]
    place = in_lab if arguments.place == "lab" else simulated
    binary = arguments.binary or bazel.build(place.TARGET)

    def run() -> int:
        measure = in_lab.measure if place is in_lab else _simulate
        results = measure(arguments, binary, jobs, seeds)
        _show(arguments, trials, results, baseline, seeds)
        for text in results.broken():
            print(f"error: {text}", file=sys.stderr)
        return EXIT_FAILED if results.broken() else 0

    return isolation.run(run) if place is in_lab else run()


def main(argv: Sequence[str]) -> int:
    return run_command(_main, argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
