# SPDX-License-Identifier: Apache-2.0
"""Runs a PyTorch script on local ranks, with or without the library."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Dict, List, Optional, Sequence

from front_end.local_ranks import free_port

HERE = Path(os.path.abspath(__file__)).parent  # keeps links: see runfiles
LIBRARY = HERE.parent.parent / "gloo_ext" / "libgloo_ubt.so"
PACKAGE = HERE.parent.parent / "gloo_ext" / "python"
# Bounded, but nothing expires even on a busy machine.
PATIENT = {"GLOO_UBT_BOUND": "20s"}


def is_alive(pid: int) -> bool:
    """Whether the process exists and is not a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rsplit(")", 1)[1].split()[0] != "Z"


class Job:
    """A script on `size` ranks. close() ends them in every case."""

    def __init__(self, python: str, script: str, size: int,
                 arguments: Sequence[str] = ()) -> None:
        self._command = [python, str(HERE / "scripts" / script)]
        self._arguments = arguments
        self._port = free_port()
        self._folder = tempfile.TemporaryDirectory()
        self.size = size
        self.processes: Dict[int, subprocess.Popen] = {}

    def __enter__(self) -> "Job":
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
            process.wait()
        self._folder.cleanup()

    def start(self, rank: int, algorithm: Optional[str] = "optireduce",
              environment: Optional[Dict[str, str]] = None,
              arguments: Optional[Sequence[str]] = None) -> None:
        """Starts a rank. Without the library if `algorithm` is None.
        `arguments` replace the job's."""
        full = dict(os.environ)
        full.update(RANK=str(rank), LOCAL_RANK=str(rank),
                    WORLD_SIZE=str(self.size), MASTER_ADDR="127.0.0.1",
                    MASTER_PORT=str(self._port), OMP_NUM_THREADS="1",
                    GLOO_SOCKET_IFNAME="lo",
                    PYTHONPATH=str(PACKAGE))
        if algorithm is not None:
            full.update(LD_PRELOAD=str(LIBRARY), GLOO_ALGO=algorithm)
        full.update(environment or {})
        with open(self._log(rank), "w") as log:
            self.processes[rank] = subprocess.Popen(
                [*self._command,
                 *(self._arguments if arguments is None else arguments)],
                env=full, stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT)

    def start_all(self, algorithm: Optional[str] = "optireduce",
                  environment: Optional[Dict[str, str]] = None) -> "Job":
        for rank in range(self.size):
            self.start(rank, algorithm, environment)
        return self

    def _log(self, rank: int) -> Path:
        return Path(self._folder.name) / f"rank{rank}"

    def output(self, rank: int) -> str:
        return self._log(rank).read_text(errors="replace")

    def wait(self, rank: int, seconds: float = 120) -> int:
        """The rank's exit status."""
        return self.processes[rank].wait(seconds)

    def await_text(self, rank: int, text: str, seconds: float = 60) -> None:
        """Waits until the rank has printed the text."""
        end = time.monotonic() + seconds
        while text not in self.output(rank):
            if time.monotonic() > end or (
                    self.processes[rank].poll() is not None
                    and text not in self.output(rank)):
                raise AssertionError(
                    f"rank {rank} never said {text!r}:\n{self.output(rank)}")
            time.sleep(0.01)

    def results(self, seconds: float = 120) -> List[dict]:
        """Each rank's output in lines of JSON, once all have succeeded, each
        within `seconds` after the previous one."""
        said = []
        for rank in range(self.size):
            status = self.wait(rank, seconds)
            if status != 0:
                raise AssertionError(
                    f"rank {rank} ended with {status}:\n{self.output(rank)}")
            own: dict = {}
            for line in self.output(rank).splitlines():
                if line.startswith("{"):
                    own.update(json.loads(line))
            said.append(own)
        return said
