# SPDX-License-Identifier: Apache-2.0
"""The job of one variant. It works only during its turns."""
import argparse
import os
import time

from front_end.bazel import ROOT
from front_end.children import tail
from front_end.errors import UserError
from front_end.local_ranks import LocalRanks, how
from train_lib import algorithms
from train_lib.pytorch import environment

from .arguments import PRELOADED

_SCRIPT = os.path.join(ROOT, "benchmark", "training", "ddp_steps.py")
_LIMIT_S = 120.0
_POLL_S = 0.001


def _variables(name: str, library: str) -> dict[str, str]:
    if name == PRELOADED:
        return {"LD_PRELOAD": library}
    return algorithms.variables(name, library)


class Variant:
    """A context manager that ends its ranks."""

    def __init__(self, name: str, arguments: argparse.Namespace, library: str,
                 folder: str) -> None:
        """`folder`: a new folder for this variant alone."""
        self.name = name
        self._ranks = arguments.ranks
        self._folder = folder
        self._log = os.path.join(folder, "log")
        self._read = 0  # position in the log
        self._pipes: list = []
        own = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo",
               **environment(), **_variables(name, library)}
        self._job = LocalRanks(
            [arguments.python, _SCRIPT, "--turns", self._pipe_folder(),
             "--log", self._log], arguments.ranks, own, folder)

    def _pipe_folder(self) -> str:
        return os.path.join(self._folder, "turns")

    def __enter__(self) -> "Variant":
        os.mkdir(self._pipe_folder())
        for rank in range(self._ranks):
            path = os.path.join(self._pipe_folder(), f"rank{rank}")
            os.mkfifo(path)
            # Opened for reading, too: otherwise open() would wait for the
            # rank.
            self._pipes.append(os.open(path, os.O_RDWR))
        with open(self._log, "wb"):
            pass
        self._job.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._job.end()
        for pipe in self._pipes:
            os.close(pipe)

    def turn(self, steps: int) -> list[float]:
        """Milliseconds of each step of a turn. Raises UserError if a rank
        ends, or if there is no output for too long."""
        for pipe in self._pipes:
            os.write(pipe, f"{steps}\n".encode())
        deadline = time.monotonic() + _LIMIT_S
        said = ""
        with open(self._log, encoding="utf-8") as log:
            log.seek(self._read)  # only new text, to save CPU time
            while said.count("\n") < steps:
                self._check(deadline)
                time.sleep(_POLL_S)
                said += log.read()
            self._read = log.tell()
        return [float(line) for line in said.splitlines()]

    def _check(self, deadline: float) -> None:
        for rank, code in self._job.blamed().items():
            raise UserError(f"{self.name}: rank {rank} {how(code)}: "
                            + tail(self._job.output(rank), 12))
        if time.monotonic() > deadline:
            raise UserError(f"{self.name}: no step in {_LIMIT_S:.0f} s: "
                            + tail(self._job.output(0), 12))
