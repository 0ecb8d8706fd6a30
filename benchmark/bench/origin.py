# SPDX-License-Identifier: Apache-2.0
"""Where and when a measurement was made, and of which code."""
import dataclasses
import datetime
import os
import platform
import socket
import subprocess
from collections.abc import Sequence

from front_end.bazel import ROOT
from front_end.version import VERSION


@dataclasses.dataclass(frozen=True)
class Origin:
    """Everything that a table does not say about itself."""

    version: str
    commit: str  # with a + if files differ from it
    host: str
    machine: str  # CPUs, memory and kernel
    date: str  # when it began, in UTC

    def heading(self, ranks: Sequence[int]) -> str:
        """The first lines of a command's output."""
        numbers = ",".join(map(str, ranks))
        return (f"gloo_ubt {self.version}, commit {self.commit}, {self.date}\n"
                f"{numbers} {'rank' if numbers == '1' else 'ranks'}, "
                f"{self.host}: {self.machine}\n")


def origin() -> Origin:
    return Origin(VERSION, commit(), socket.gethostname(), machine(), date())


def date() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(
        timespec="seconds")


def commit() -> str:
    """The commit that is checked out, with a + if files differ from it."""
    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", "-c", f"safe.directory={ROOT}", *arguments], cwd=ROOT,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    try:
        # The report itself is not part of the measured code.
        changed = git("status", "--porcelain", "--untracked-files=no", "--",
                      ".", ":!docs")
        return (git("rev-parse", "--short=12", "HEAD")
                + ("+" if changed else "")) or "unknown"
    except FileNotFoundError:
        return "unknown"


def machine() -> str:
    """The machine's CPUs, memory and kernel."""
    gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (f"{os.cpu_count()} x {_cpu()}, {gib:.0f} GiB, "
            f"{platform.system()} {platform.release().partition('-')[0]}")


def _cpu() -> str:
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.machine()
