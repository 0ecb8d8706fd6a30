# SPDX-License-Identifier: Apache-2.0
"""The ranks of one job on this machine."""
from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Collection, Mapping, Sequence
from typing import IO, Protocol

from .children import end, with_parent

# When a rank dies, the others fail at once. Waits this long before deciding
# which rank to blame.
_BLAME_GRACE_S = 1.0
_POLL_S = 0.05

LAB_HOST = "LAB_HOST"  # benchmark/lab sets it to the host's number
PORT = 29500  # PyTorch's default; never taken on a host of one rank


def free_port() -> int:
    """A port that is free now. Another process may take it before its use."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def how(code: int) -> str:
    """Describes how a process with subprocess's exit code `code` ended."""
    if code >= 0:
        return f"ended with exit code {code}"
    return f"was ended by {signal.Signals(-code).name}"


def exit_code(blamed: Mapping[int, int]) -> int:
    """The exit code of a command whose ranks failed with these codes, by rank:
    that of the first, or 128 and its signal's number."""
    first = next(iter(blamed.values()))
    return first if first > 0 else 128 - first


class Host(Protocol):
    """A network namespace on this machine."""

    address: str

    def entered(self) -> contextlib.AbstractContextManager[None]:
        """Processes that start inside this context run on the host."""


class LocalRanks:
    """A context manager that ends all ranks in every case.

    The ranks also end if this process is killed. Each has its own session, so
    Ctrl-C in a terminal reaches only this process.
    """

    def __init__(self, command: Sequence[str], count: int,
                 environment: Mapping[str, str],
                 outputs: str | Sequence[int] | None = None,
                 grace_s: float = 2.0,
                 hosts: Sequence[Host] | None = None,
                 sound: Collection[int] = (0,)) -> None:
        """Each rank gets `environment` plus the variables of its place. Output
        of rank R goes to the file rank<R> in the folder `outputs`, or to the
        R-th of these open files, or, without `outputs`, to this process's
        output. A rank that was asked to end is killed after `grace_s`. With
        `hosts`, rank R runs alone on the R-th. `sound`: exit codes of ranks
        that have not failed."""
        self._command = with_parent(list(command))
        self._count = count
        self._environment = environment
        self._outputs = outputs
        self._grace_s = grace_s
        self._hosts = hosts
        self._sound = (None, *sound)
        self._processes: list[subprocess.Popen] = []

    def __enter__(self) -> "LocalRanks":
        port = PORT if self._hosts else free_port()
        try:
            for rank in range(self._count):
                self._start(rank, port)
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def _start(self, rank: int, port: int) -> None:
        place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": self._count,
                 "LOCAL_WORLD_SIZE": self._count, "MASTER_ADDR": "127.0.0.1",
                 "MASTER_PORT": port}
        with contextlib.ExitStack() as stack:
            if self._hosts:
                place |= {"LOCAL_RANK": 0, "LOCAL_WORLD_SIZE": 1,
                          "MASTER_ADDR": self._hosts[0].address,
                          LAB_HOST: rank}
                stack.enter_context(self._hosts[rank].entered())
            output: IO | int | None = None
            if isinstance(self._outputs, str):
                output = stack.enter_context(open(self.output(rank), "wb"))
            elif self._outputs is not None:
                output = self._outputs[rank]
            self._processes.append(subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=output,
                stderr=output, start_new_session=True,
                env={**self._environment,
                     **{name: str(value) for name, value in place.items()}}))

    def output(self, rank: int) -> str:
        """The path of the rank's output. REQUIRES a folder `outputs`."""
        assert isinstance(self._outputs, str)
        return os.path.join(self._outputs, f"rank{rank}")

    def pids(self) -> list[int]:
        return [process.pid for process in self._processes]

    def codes(self) -> list[int | None]:
        """The exit code of each rank; None for a rank that still runs."""
        return [process.poll() for process in self._processes]

    def _failed(self) -> dict[int, int]:
        return {rank: code for rank, code in enumerate(self.codes())
                if code not in self._sound}

    def blamed(self) -> dict[int, int]:
        """The exit codes of the ranks to blame: the killed ones or, if none
        was killed, those that failed first. If any failed, waits up to a
        second for the others."""
        first = self._failed()
        deadline = time.monotonic() + _BLAME_GRACE_S
        while (first and time.monotonic() < deadline
               and len(self._failed()) < self._count):
            time.sleep(_POLL_S)
        killed = {rank: code for rank, code in self._failed().items()
                  if code < 0}
        return first and (killed or first)

    def end(self, number: int = signal.SIGTERM) -> None:
        """Sends signal `number` to all running ranks. Returns when all have
        ended."""
        end(self._processes, number, self._grace_s)
