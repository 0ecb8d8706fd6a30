# SPDX-License-Identifier: Apache-2.0
"""The local ranks of one training."""
import json
import math
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence

from front_end.children import end, tail, with_parent
from front_end.errors import UserError

from .pytorch import environment

# A rank's death makes the others fail at once. Wait for these, so as to blame
# the right one.
_BLAME_GRACE_S = 1.0
_POLL_S = 0.1
_TAIL_LINES = 12


def _free_port() -> int:
    """Free when asked for; another process may still take it before us."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def _assignments(variables: dict[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in variables.items()]


class Job:
    """A context manager: whatever happens, the ranks end with it."""

    end_together_s = 60.0

    def __init__(self, command: Sequence[str], ranks: int,
                 variables: dict[str, str]) -> None:
        """`command` is a script's, which gets --log FILE; `variables` are set
        for it alone, and not for what helps to start it.
        """
        self._command = ["env", *_assignments(variables), *command]
        self._ranks = ranks
        self._processes: list[subprocess.Popen] = []

    def __enter__(self) -> "Job":
        self._folder = tempfile.mkdtemp(prefix="train-")
        self._log = os.path.join(self._folder, "log")
        port = _free_port()
        try:
            with open(self._log, "wb"):
                pass
            for rank in range(self._ranks):
                self._start(rank, port)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self, rank: int, port: int) -> None:
        own = {"RANK": str(rank), "LOCAL_RANK": str(rank),
               "WORLD_SIZE": str(self._ranks), "MASTER_ADDR": "127.0.0.1",
               "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1",
               "GLOO_SOCKET_IFNAME": "lo", "PYTHONDONTWRITEBYTECODE": "1"}
        with open(self._output_path(rank), "wb") as output:
            self._processes.append(subprocess.Popen(
                with_parent([*self._command, "--log", self._log]),
                env={**environment(), **own}, stdin=subprocess.DEVNULL,
                stdout=output, stderr=output, start_new_session=True))

    def _output_path(self, rank: int) -> str:
        return os.path.join(self._folder, f"rank{rank}")

    def pids(self) -> list[int]:
        return [process.pid for process in self._processes]

    def lines(self) -> Iterator[dict]:
        """Yields the log's lines as they come, until all ranks have ended.

        Raises UserError as soon as one has not ended well, or still goes on
        a minute after another has ended.
        """
        deadline = math.inf
        with open(self._log, encoding="utf-8") as log:
            rest = ""
            while True:
                codes = self._codes()
                *lines, rest = (rest + log.read()).split("\n")
                yield from map(json.loads, lines)
                self._raise_if_failed()
                if None not in codes:
                    return
                if deadline == math.inf and 0 in codes:
                    deadline = time.monotonic() + self.end_together_s
                if time.monotonic() > deadline:
                    raise UserError(
                        f"rank {codes.index(None)} does not end, though rank "
                        f"{codes.index(0)} did long ago; all have been ended")
                time.sleep(_POLL_S)

    def said(self) -> list[str]:
        """What rank 0 wrote last, but for the log."""
        return tail(self._output_path(0), 20).splitlines()

    def _codes(self) -> list[int | None]:
        """The exit code of each rank, None of one that goes on."""
        return [process.poll() for process in self._processes]

    def _failed(self) -> dict[int, int]:
        return {rank: code for rank, code in enumerate(self._codes())
                if code not in (None, 0)}

    def _raise_if_failed(self) -> None:
        first = self._failed()
        if not first:
            return
        deadline = time.monotonic() + _BLAME_GRACE_S
        while (time.monotonic() < deadline
               and len(self._failed()) < len(self._processes)):
            time.sleep(_POLL_S)
        killed = {rank: code for rank, code in self._failed().items()
                  if code < 0}
        words: dict[str, str] = {}  # ranks that say the same are named once
        for rank, code in (killed or first).items():
            words.setdefault(self._explain(rank, code), f"rank {rank}")
        raise UserError("\n".join(
            f"{rank} {explained}" for explained, rank in words.items())
            + "\nThe other ranks have been ended, too.")

    def _explain(self, rank: int, code: int) -> str:
        said = tail(self._output_path(rank), _TAIL_LINES)
        how = (f"was ended by {signal.Signals(-code).name}" if code < 0
               else f"ended with exit code {code}")
        return f"{how}: {said}" if said else f"{how} and said nothing"

    def __exit__(self, *_: object) -> None:
        end(self._processes)
        shutil.rmtree(self._folder, ignore_errors=True)
