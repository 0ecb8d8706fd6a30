# SPDX-License-Identifier: Apache-2.0
"""Runs parts, and notes the origin of their results."""
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Mapping, Sequence

from front_end.bazel import ROOT
from front_end.children import end, tail, with_parent
from front_end.errors import EXIT_FAILED
from front_end.progress import Bar

from .. import origin
from ..lab.accounts import OTHERS_MOST
from .experiment import Experiment, Part
from .store import Finding, Store

_POLL_S = 0.1
# A part that takes this many times its estimate, plus a build, is stuck.
_PATIENCE, _BUILD_S = 5, 900

Steps = Sequence[tuple[Experiment, Part]]


def steps(experiments: Collection[Experiment], quick: bool) -> Steps:
    return [(experiment, part) for experiment in experiments
            for part in experiment.parts(quick)]


def missing(wanted: Steps, store: Store) -> Steps:
    return [(experiment, part) for experiment, part in wanted
            if store.get(experiment, part) is None]


def measure(wanted: Steps,
            store: Store) -> list[tuple[Experiment, Part, str]]:
    """Measures each part in turn. Returns those that failed, and why; a failure
    does not stop the others."""
    failed = []
    total = sum(part.seconds for _, part in wanted)
    done = 0.0
    machine = origin.machine()
    with Bar() as bar:
        for number, (experiment, part) in enumerate(wanted, 1):
            title = (f"{number} of {len(wanted)}: {experiment.name}, "
                     f"{part.name}")
            if not sys.stderr.isatty():  # else the bar shows it
                print(f"{title}, about {part.seconds:.0f} s", file=sys.stderr)
            commit = origin.commit()
            date = origin.date()
            began = time.monotonic()

            def show() -> None:
                bar.show(title, total=total, completed=done + min(
                    time.monotonic() - began, part.seconds))

            try:
                result = _run(part, show)
            except _Failed as error:
                failed.append((experiment, part, str(error)))
            else:
                store.put(experiment, part, Finding(
                    list(part.command), dict(part.variables), commit, machine,
                    date, round(time.monotonic() - began, 1), result))
            done += part.seconds
    return failed


def _rows(result: object) -> object:
    """Leaves out the origin, which the store has."""
    return result["rows"] if isinstance(result, dict) and "rows" in result \
        else result


def _others(result: object) -> float:
    """The largest share of the CPUs that other programs took beside a row of a
    lab; 0 without one."""
    rows = result if isinstance(result, list) else [result]
    rows = [row.get("row", row) for row in rows if isinstance(row, dict)]
    return max((row.get("cpu_others_fraction", 0) for row in rows), default=0)


def _without_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Leaves out the shell's settings for this project: they would change the
    result without a trace in it."""
    return {name: value for name, value in environment.items()
            if not name.startswith("GLOO_")}


def _runnable(command: Sequence[str]) -> list[str]:
    """Replaces "python" by this one, with its modules."""
    if command[0] != "python":
        return list(command)
    return [sys.executable, "-B", "-c", "import runpy, sys\n"
            f"sys.path[:0] = {sys.path!r}\n"
            "sys.argv[:4] = sys.argv[3:4]\n"
            "runpy.run_module(sys.argv[0], run_name='__main__')", *command]


class _Failed(Exception):
    """A failure with its reason."""


def _run(part: Part, show: Callable[[], None]) -> object:
    with tempfile.TemporaryDirectory(prefix="experiments-") as folder:
        path, errors = (os.path.join(folder, name)
                        for name in ("result.json", "errors"))
        with open(errors, "wb") as log:
            process = subprocess.Popen(
                with_parent([*_runnable(part.command), "--json", path]),
                cwd=ROOT,
                env={**_without_settings(os.environ), **part.variables},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True)
        deadline = time.monotonic() + _BUILD_S + _PATIENCE * part.seconds
        try:
            while process.poll() is None:
                if time.monotonic() > deadline:
                    raise _Failed("it takes far longer than "
                                  f"{part.seconds:.0f} s")
                show()
                time.sleep(_POLL_S)
        finally:
            end([process], grace_s=20)  # a lab has to clean up
        failed = process.returncode != 0 and not (
            part.says_failures and process.returncode == EXIT_FAILED
            and os.path.exists(path))
        if failed:
            raise _Failed(tail(errors) or f"exit code {process.returncode}")
        try:
            with open(path, encoding="utf-8") as file:
                result = _rows(json.load(file))
        except (OSError, ValueError) as error:
            raise _Failed(f"it wrote no result: {error}") from error
        others = _others(result)
        if others > OTHERS_MOST:
            raise _Failed(f"other programs took {others:.0%} of the CPUs; run "
                          "this again while the machine is quiet")
        return result
