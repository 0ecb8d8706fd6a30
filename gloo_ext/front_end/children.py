# SPDX-License-Identifier: Apache-2.0
"""Processes that end together with the process that started them.

Signals go only to processes that this program started, by process id.
"""
from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Collection


def with_parent(command: list[str]) -> list[str]:
    """Makes the kernel kill `command` when this process dies."""
    if shutil.which("setpriv"):
        return ["setpriv", "--pdeathsig", "KILL", "--"] + command
    return command


def end(processes: Collection[subprocess.Popen], number: int = signal.SIGTERM,
        grace_s: float = 2.0) -> None:
    """Asks all processes to end. Kills those that still run after `grace_s`,
    and all processes that they started.

    REQUIRES start_new_session of each, so that each leads a process group.
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
