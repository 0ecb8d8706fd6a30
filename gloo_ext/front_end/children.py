# SPDX-License-Identifier: Apache-2.0
"""Processes that end with the one that started them.

Only processes that were started here are ever signalled, by their own ids.
"""
import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Collection


def with_parent(command: list[str]) -> list[str]:
    """Makes the kernel end `command` should this process be killed."""
    if shutil.which("setpriv"):
        return ["setpriv", "--pdeathsig", "KILL", "--"] + command
    return command


def end(processes: Collection[subprocess.Popen], number: int = signal.SIGTERM,
        grace_s: float = 2.0) -> None:
    """Asks all to end, and kills those that have not within `grace_s`, and
    what they have started.

    REQUIRES start_new_session of each, which makes that a group of its own.
    """
    running = [process for process in processes if process.poll() is None]
    for process in running:
        process.send_signal(number)
    deadline = time.monotonic() + grace_s
    for process in running:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - time.monotonic()))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def tail(path: str, lines: int = 5) -> str:
    """The last lines of a file of any encoding."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return "".join(file.readlines()[-lines:]).strip()
