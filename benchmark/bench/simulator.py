# SPDX-License-Identifier: Apache-2.0
"""Processes that simulate one job each: virtual time, and no noise except by
the seed."""
import concurrent.futures
import json
import shlex
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence

from front_end.children import end, with_parent
from front_end.errors import UserError
from front_end.progress import Bar

WARMUP_OPS = 20  # as in transport_ubt/core/wire/options.h


def text_of(options: Mapping[str, object]) -> str:
    """The text for --options."""
    return " ".join(f"{name}={value}" for name, value in options.items())


class Simulator:
    """A context manager that ends the processes it has started."""

    def __init__(self, measure: str, processes: int) -> None:
        """`measure`: the path of //benchmark:measure. `processes` of it run
        at once."""
        self._measure = measure
        self._pool = concurrent.futures.ThreadPoolExecutor(processes)
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen] = set()
        self._over = False

    def __enter__(self) -> "Simulator":
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._over = True
            running = list(self._running)
        end(running)
        self._pool.shutdown(cancel_futures=True)

    def run(self, jobs: Sequence[Sequence[str]],
            reports: dict[int, dict]) -> None:
        """Simulates with each of these argument lists. Adds each report to
        `reports` when it comes, under the job's number."""
        futures = {self._pool.submit(self._one, job): number
                   for number, job in enumerate(jobs)}
        with Bar() as bar:
            bar.show("simulating", completed=0, total=len(jobs))
            for finished, future in enumerate(
                    concurrent.futures.as_completed(futures), 1):
                reports[futures[future]] = future.result()
                bar.show(f"run {finished} of {len(jobs)}", completed=finished,
                         total=len(jobs))

    def _one(self, arguments: Sequence[str]) -> dict:
        with self._lock:
            if self._over:
                raise UserError("ended before its time")
            process = subprocess.Popen(
                with_parent([self._measure, *arguments]),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True, start_new_session=True)
            self._running.add(process)
        out, err = process.communicate()
        with self._lock:
            self._running.discard(process)
        if process.returncode != 0:
            raise UserError(f"the simulator failed: {_why(process, err)}; it "
                            f"was asked for {shlex.join(arguments)}")
        return json.loads(out)


def _why(process: subprocess.Popen, said: str) -> str:
    if said.strip():
        return said.strip()
    if process.returncode == -signal.SIGKILL:
        return ("it was killed, as when memory runs out: fewer --processes at "
                "a time need less")
    return (f"signal {-process.returncode}" if process.returncode < 0
            else f"exit code {process.returncode}")
