# SPDX-License-Identifier: Apache-2.0
"""Builds the worker, runs it and shows the results."""
import contextlib
import json
import subprocess
import sys

from front_end import bazel
from front_end.commands import run_command
from lab_lib import isolation
from lab_lib.lab import Lab

from . import algorithms, in_lab
from . import arguments as command_line
from .collect import collect
from .errors import EXIT_USAGE, CompareError
from .percentiles import percentiles
from .processes import PrivateRedis, Workers
from .progress import Progress
from .table import is_sound, render, verdict, why

_WORKER = "//benchmark/comparison:worker"


def _choose(arguments, worker):
    output = subprocess.run(
        [worker, "--list-algorithms", "--size", str(arguments.ranks)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        check=False)
    if output.returncode != 0:  # for example a wrong GLOO_UBT_* variable
        raise CompareError(output.stderr.strip().removeprefix("error: "),
                           EXIT_USAGE)
    known = json.loads(output.stdout)
    if not arguments.algorithms:
        for name, entry in known.items():
            if entry["default"] and entry["why_not"] is not None:
                print(f"note: {name} is left out, it {entry['why_not']}",
                      file=sys.stderr)
    return algorithms.choose(arguments.algorithms, known)


def _worker_options(arguments, names, redis_url):
    options = [
        "--redis-url", redis_url, "--prefix", arguments.prefix,
        "--algorithms", ",".join(names),
        "--elements", ",".join(map(str, arguments.elements)),
        "--seconds", str(arguments.seconds)]
    if arguments.interface:
        options += ["--interface", arguments.interface]
    if arguments.plot or arguments.json:
        options.append("--samples")
    if arguments.in_lab:
        options += in_lab.worker_options(arguments.in_lab)
    return options


def _run(arguments, worker):
    """Returns (row, samples) pairs and the exit code; no pairs unless rank
    0."""
    names = _choose(arguments, worker)
    with contextlib.ExitStack() as stack:
        redis_url = arguments.redis_url
        ranks = [arguments.rank]
        if arguments.local:
            redis_url = stack.enter_context(PrivateRedis()).url
            ranks = range(arguments.ranks)
        lab = accounts = None
        if arguments.in_lab:
            lab = stack.enter_context(Lab(arguments.in_lab))
            accounts = in_lab.Accounts(lab)
        workers = stack.enter_context(Workers(
            worker, _worker_options(arguments, names, redis_url), ranks,
            arguments.ranks, lab))
        with Progress(arguments.elements) as progress:
            results = collect(workers, len(names), accounts, progress)
        for line in workers.warnings():
            print(line, file=sys.stderr)
        return results, workers.exit_code()


def _show(arguments, results):
    rows = [row for row, _ in results]
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump([{**row, "percentiles_us": percentiles(samples)}
                       for row, samples in results], file, indent=1)
            file.write("\n")
    print(render(rows), end="")
    if arguments.in_lab:
        _show_lab(arguments.in_lab, rows)
    if arguments.plot:
        from .plot import draw
        draw(results, arguments.plot)
    for row in rows:
        if not is_sound(row):
            print(f"error: {row['algorithm']} with {row['elements']} elements: "
                  f"{verdict(row)}{why(row)}", file=sys.stderr)


def _show_lab(settings, rows):
    print(f"\n{settings}")
    lateness = settings.lateness()
    if lateness:
        who = "some rank" if lateness.host is None else f"rank {lateness.host}"
        print(f"{who} was late at times; times are those of the slowest of the "
              "others")
    checked = in_lab.check(settings, rows)
    if checked:
        print(checked.text)
        if checked.warning:
            print(f"warning: {checked.warning}", file=sys.stderr)


def _main(argv):
    arguments = command_line.parse(argv)
    if arguments.only_check:
        return 0
    # Outside the lab: the build leaves a Bazel server running for the next
    # one.
    worker = arguments.worker or bazel.build(_WORKER)
    if arguments.in_lab:
        return isolation.run(lambda: _compare(arguments, worker))
    return _compare(arguments, worker)


def _compare(arguments, worker):
    results, exit_code = _run(arguments, worker)
    if arguments.shows:
        _show(arguments, results)
    elif exit_code:
        print("error: not all rows are sound; rank 0 says which",
              file=sys.stderr)
    return exit_code


def main(argv):
    return run_command(_main, argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
