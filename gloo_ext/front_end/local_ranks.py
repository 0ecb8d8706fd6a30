# SPDX-License-Identifier: Apache-2.0
"""The ranks of one job on this machine."""
import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import IO, Protocol

from .bazel import LAB_HOST
from .children import end, with_parent

# A rank's death makes the others fail at once. Wait for these, so as to blame
# the right one.
_BLAME_GRACE_S = 1.0
_POLL_S = 0.05

PORT = 29500  # PyTorch's own default; nobody else is on a host to take it


def free_port() -> int:
    """Free when asked for; another process may still take it before us."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def how(code: int) -> str:
    """What to say of a process with this exit code, as subprocess has it."""
    if code >= 0:
        return f"ended with exit code {code}"
    return f"was ended by {signal.Signals(-code).name}"


class Host(Protocol):
    """A place on this machine with a network of its own."""

    address: str

    def entered(self) -> contextlib.AbstractContextManager[None]:
        """What is started meanwhile is there."""


class LocalRanks:
    """A context manager: whatever happens, the ranks end with it.

    They end, too, if this process is killed, and have a session of their own:
    Ctrl-C in a terminal comes to this process alone.
    """

    def __init__(self, command: Sequence[str], count: int,
                 environment: Mapping[str, str],
                 outputs: str | Sequence[int] | None = None,
                 grace_s: float = 2.0,
                 hosts: Sequence[Host] | None = None) -> None:
        """Each has `environment` and its place in it. What rank R says goes
        into the file rank<R> of the folder `outputs`, or the R-th of those
        open files, or where this process's goes. Those that were asked to end
        have `grace_s` before they are killed. With `hosts`, rank R is the only
        one on the R-th."""
        self._command = with_parent(list(command))
        self._count = count
        self._environment = environment
        self._outputs = outputs
        self._grace_s = grace_s
        self._hosts = hosts
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
        """The path of what the rank says. REQUIRES a folder `outputs`."""
        assert isinstance(self._outputs, str)
        return os.path.join(self._outputs, f"rank{rank}")

    def pids(self) -> list[int]:
        return [process.pid for process in self._processes]

    def codes(self) -> list[int | None]:
        """The exit code of each rank, None of one that goes on."""
        return [process.poll() for process in self._processes]

    def _failed(self) -> dict[int, int]:
        return {rank: code for rank, code in enumerate(self.codes()) if code}

    def blamed(self) -> dict[int, int]:
        """The exit codes of the ranks that failed: those that were killed or,
        if none was, the first ones. When there are any, waits up to a second
        to tell."""
        first = self._failed()
        deadline = time.monotonic() + _BLAME_GRACE_S
        while (first and time.monotonic() < deadline
               and len(self._failed()) < self._count):
            time.sleep(_POLL_S)
        killed = {rank: code for rank, code in self._failed().items()
                  if code < 0}
        return first and (killed or first)

    def end(self, number: int = signal.SIGTERM) -> None:
        """Asks those that go on, by the signal `number`, to end; returns when
        all have ended."""
        end(self._processes, number, self._grace_s)
