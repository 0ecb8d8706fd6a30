# SPDX-License-Identifier: Apache-2.0
"""Use of the CPUs. A lab's hosts share them with each other and with all other
processes of this machine. A virtual machine shares them with other
machines."""
import contextlib
import dataclasses
import os
from collections.abc import Iterator

_LATENCY = "/dev/cpu_dma_latency"
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass(frozen=True)
class CpuTimes:
    """Seconds of all CPUs together, since some time."""

    idle: float
    others: float  # used by other processes and machines
    total: float


@contextlib.contextmanager
def awake() -> Iterator[None]:
    """Makes idle CPUs wait for work instead of sleeping. Waking a CPU, above
    all a virtual one, takes longer than the messages between hosts. The kernel
    drops this setting when the process ends."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # then they sleep
            file = stack.enter_context(open(_LATENCY, "wb", buffering=0))
            file.write(bytes(4))  # microseconds that waking may take
        yield


def read() -> CpuTimes:
    """REQUIRES isolation.run: its /proc contains only the lab's processes."""
    with open("/proc/stat", encoding="ascii") as file:
        ticks = [int(word) for word in file.readline().split()[1:9]]
    user, nice, system, idle, waiting, _, _, stolen = ticks
    return CpuTimes((idle + waiting) / _TICKS,
                    (user + nice + system + stolen) / _TICKS - _own(),
                    sum(ticks) / _TICKS)


def _own() -> float:
    """Of all processes in this /proc, and those they have waited for."""
    total = 0
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8",
                          errors="replace") as file:
                    words = file.read().rsplit(")", 1)[1].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            total += sum(map(int, words[11:15]))
    return total / _TICKS
