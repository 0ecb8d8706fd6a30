# SPDX-License-Identifier: Apache-2.0
"""The local ranks of one training."""
import contextlib
import json
import math
import os
import tempfile
import time
from collections.abc import Iterator, Sequence

from front_end.children import tail
from front_end.errors import UserError
from front_end.local_ranks import Host, LocalRanks, how

from .pytorch import environment

_POLL_S = 0.1
_TAIL_LINES = 12
_VARIABLES = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo",
              "PYTHONDONTWRITEBYTECODE": "1"}


class Job:
    """A context manager that ends the ranks in every case."""

    end_together_s = 60.0

    def __init__(self, command: Sequence[str], ranks: int,
                 variables: dict[str, str],
                 hosts: Sequence[Host] | None = None) -> None:
        """`command` is a script's; it gets --log FILE. With `hosts`, each rank
        runs on a host of its own."""
        self._command = command
        self._count = ranks
        self._hosts = hosts
        self._environment = {**environment(), **_VARIABLES, **variables}

    def __enter__(self) -> "Job":
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="train-"))
            self._log = os.path.join(folder, "log")
            with open(self._log, "wb"):
                pass
            self._ranks = stack.enter_context(LocalRanks(
                [*self._command, "--log", self._log], self._count,
                self._environment, folder, hosts=self._hosts))
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def pids(self) -> list[int]:
        return self._ranks.pids()

    def lines(self) -> Iterator[dict]:
        """Yields the log's lines as they appear, until all ranks have ended.

        Raises UserError as soon as one fails, or if one still runs a minute
        after another has ended.
        """
        deadline = math.inf
        with open(self._log, encoding="utf-8") as log:
            rest = ""
            while True:
                codes = self._ranks.codes()
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
        """The last lines of rank 0's output, without the log."""
        return tail(self._ranks.output(0), 20).splitlines()

    def _raise_if_failed(self) -> None:
        words: dict[str, str] = {}  # ranks with equal errors are named once
        for rank, code in self._ranks.blamed().items():
            words.setdefault(self._explain(rank, code), f"rank {rank}")
        if words:
            raise UserError("\n".join(
                f"{rank} {explained}" for explained, rank in words.items())
                + "\nThe other ranks have been ended, too.")

    def _explain(self, rank: int, code: int) -> str:
        said = tail(self._ranks.output(rank), _TAIL_LINES)
        return (f"{how(code)}: {said}" if said
                else f"{how(code)} and said nothing")
