# SPDX-License-Identifier: Apache-2.0
"""Processes that end with the one that started them.

Only processes that were started here are ever signalled, by their own ids.
"""
import shutil
import subprocess
import time
from collections.abc import Collection

_END_GRACE_S = 2.0


def with_parent(command: list[str]) -> list[str]:
    """Makes the kernel end `command` should this process be killed."""
    if shutil.which("setpriv"):
        return ["setpriv", "--pdeathsig", "KILL", "--"] + command
    return command


def end(processes: Collection[subprocess.Popen]) -> None:
    """Asks all to end, and kills those that have not within 2 s."""
    for process in processes:
        if process.poll() is None:
            process.terminate()
    deadline = time.monotonic() + _END_GRACE_S
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def tail(path: str, lines: int = 5) -> str:
    """The last lines of a file of any encoding."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return "".join(file.readlines()[-lines:]).strip()
