# SPDX-License-Identifier: Apache-2.0
"""The local ranks of one comparison or training: their start and end, the
shares that they lost, and the Python that runs them."""
import contextlib
import json
import math
import os
import re
import select
import statistics
import subprocess
import tempfile
import time
from collections.abc import (Collection, Iterable, Iterator, Mapping,
                             Sequence)

from front_end.children import tail
from front_end.errors import EXIT_FAILED, EXIT_USAGE, UserError
from front_end.local_ranks import Host, LocalRanks, how
from front_end.progress import Bar

DEBIANS = "/usr/bin/python3"
REPORT = "GLOO_UBT_REPORT"  # folder for the counts of each rank's library

_POLL_S = 0.1
_READ_BYTES = 1 << 20  # more than a pipe holds
_TAIL_LINES = 12
_VARIABLES = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo",
              "PYTHONDONTWRITEBYTECODE": "1"}
_COUNT = re.compile(r"gloo_ubt_pairs_(expected|missing)_total\{[^}]*\} (\d+)")
_PROBE = """\
import torch, torch.distributed
print(torch.__version__ if torch.distributed.is_available()
      and hasattr(torch.distributed, "ProcessGroupGloo") else "")
"""


class Job:
    """The local ranks of one job, whose rank 0 writes lines of JSON. A context
    manager that ends the ranks in every case."""

    end_together_s = 60.0

    def __init__(self, command: Sequence[str], ranks: int,
                 variables: Mapping[str, str],
                 hosts: Sequence[Host] | None = None,
                 sound: Collection[int] = (0,), turns: bool = False) -> None:
        """`command` gets --log FILE, a pipe for its lines, and with `turns`
        also --turns FILE: see go_on(). With `hosts`, each rank runs on a host
        of its own. `sound`: exit codes of ranks that have not failed."""
        self._command = command
        self._count = ranks
        self._hosts = hosts
        self._sound = sound
        self._with_turns = turns
        self._rest = b""  # of the log: a line that has not come as a whole
        self._environment = {**os.environ, **_VARIABLES, **variables}

    def __enter__(self) -> "Job":
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="job-"))
            options = []
            for name in ("log", "turns") if self._with_turns else ("log",):
                path = os.path.join(folder, name)
                os.mkfifo(path)
                # Opened for both: otherwise open() would wait for a rank.
                pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
                stack.callback(os.close, pipe)
                setattr(self, f"_{name}", pipe)
                options += [f"--{name}", path]
            self._ranks = stack.enter_context(LocalRanks(
                [*self._command, *options], self._count, self._environment,
                folder, hosts=self._hosts, sound=self._sound))
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def pids(self) -> list[int]:
        return self._ranks.pids()

    def lines(self) -> Iterator[dict]:
        """Yields the log's lines as they appear, until all ranks have ended.
        A caller that stops iterating stops rank 0, too.

        Raises UserError as soon as one fails, or if one still runs a minute
        after another has ended.
        """
        deadline = math.inf
        while True:
            codes = self._ranks.codes()
            yield from self._read(_POLL_S if None in codes else 0)
            self._raise_if_failed()
            if None not in codes:
                return
            ended = [rank for rank, code in enumerate(codes)
                     if code is not None]
            if ended and deadline == math.inf:
                deadline = time.monotonic() + self.end_together_s
            if time.monotonic() > deadline:
                raise UserError(
                    f"rank {codes.index(None)} does not end, though rank "
                    f"{ended[0]} did long ago; all have been ended")

    def new_lines(self, wait_s: float) -> list[dict]:
        """The log's next lines, which may come for `wait_s`. For a caller that
        does not wait for all of lines(). Raises UserError if a rank has
        failed."""
        lines = self._read(wait_s)
        self._raise_if_failed()
        return lines

    def has_ended(self) -> bool:
        return None not in self._ranks.codes()

    def _read(self, wait_s: float) -> list[dict]:
        if not select.select([self._log], [], [], wait_s)[0]:
            return []
        *lines, self._rest = (self._rest + os.read(self._log, _READ_BYTES)
                              ).split(b"\n")
        return [json.loads(line) for line in lines]

    def go_on(self) -> None:
        """Writes a line for rank 0, which waits for it in --turns."""
        os.write(self._turns, b"\n")

    def exit_code(self) -> int:
        """The largest one. REQUIRES that `lines` has reached its end."""
        return max(self._ranks.codes())

    def said(self, ranks: Iterable[int] = (0,)) -> list[str]:
        """The last lines of these ranks' output, each once."""
        return list(dict.fromkeys(
            line for rank in ranks
            for line in tail(self._ranks.output(rank), 20).splitlines()))

    def _raise_if_failed(self) -> None:
        words: dict[str, str] = {}  # ranks with equal errors are named once
        blamed = self._ranks.blamed()
        for rank, code in blamed.items():
            words.setdefault(self._explain(rank, code), f"rank {rank}"
                             if self._count > 1 else "the rank here")
        if words:
            raise UserError("\n".join(
                f"{rank} {explained}" for explained, rank in words.items())
                + ("\nThe other ranks have been ended, too."
                   if len(blamed) < self._count else ""),
                EXIT_USAGE if EXIT_USAGE in blamed.values() else EXIT_FAILED)

    def _explain(self, rank: int, code: int) -> str:
        said = tail(self._ranks.output(rank), _TAIL_LINES)
        said = said.removeprefix("error: ").removeprefix(f"rank {rank}: ")
        return (f"{how(code)}: {said}" if said
                else f"{how(code)} and said nothing")


class Progress(Bar):
    """Shows progress over the steps of all runs, which have the same
    length."""

    def __init__(self, runs: int) -> None:
        super().__init__()
        self._runs = runs

    def begin(self, run: int, name: str) -> None:
        """Run number `run`, counted from 0, starts its ranks."""
        self._run = run
        self._name = name
        self._values: dict[str, str] = {}
        self.show(f"{name}: starting")

    def take(self, line: dict) -> None:
        """Takes each line of the log."""
        if "steps" in line:
            self._steps = line["steps"]
            return
        for value, text in (("loss", "loss {:.3f}"),
                            ("accuracy", "accuracy {:.3f}")):
            if value in line:
                self._values[value] = text.format(line[value])
        self.show(
            ", ".join([f"{self._name}: step {line['step']}/{self._steps}",
                       *self._values.values()]),
            total=self._runs * self._steps,
            completed=self._run * self._steps + line["step"])


@contextlib.contextmanager
def reports() -> Iterator[str]:
    """A folder for the reports: the user's, or a temporary one."""
    users = os.environ.get(REPORT)
    if users:
        yield users
        return
    with tempfile.TemporaryDirectory(prefix="train-") as folder:
        yield folder


def lost_share(folder: str, ranks: int) -> float | None:
    """The missing share, 0 to 1, of the (contributor, element) pairs that all
    bounded calls were to sum: the mean over ranks. None: nothing was bounded.
    `folder` has the library's reports (docs/watching.md) of ranks that have
    ended."""
    counts = [_counts(os.path.join(folder, f"rank{rank}.prom"))
              for rank in range(ranks)]
    shares = [count["missing"] / count["expected"] for count in counts
              if count.get("expected")]
    return statistics.mean(shares) if shares else None


def _counts(path: str) -> Mapping[str, int]:
    """Empty if the library was not loaded, or nothing was summed."""
    try:
        with open(path, encoding="utf-8") as file:
            return {name: int(count)
                    for name, count in _COUNT.findall(file.read())}
    except FileNotFoundError:
        return {}


def torch_version(python: str) -> str:
    """The version of `python`'s PyTorch. Raises UserError if it has none."""
    try:
        done = subprocess.run(
            [python, "-c", _PROBE], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            check=False)
    except OSError as error:
        raise UserError(f"--python: cannot run '{python}': {error.strerror}",
                        EXIT_USAGE) from error
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise UserError(
            f"--python: '{python}' has no PyTorch ({said}); name one that "
            "has, for example of a virtual environment after pip install "
            f"torch, or leave it out for Debian's {DEBIANS}", EXIT_USAGE)
    if not done.stdout.strip():
        raise UserError(f"--python: the PyTorch of '{python}' has no Gloo",
                        EXIT_USAGE)
    return done.stdout.strip()
