# SPDX-License-Identifier: Apache-2.0
"""Times steps of PyTorch's DistributedDataParallel: ten linear layers, 26 MB of
gradients, little to compute. Each variant is a job of its own, and all of them
run at once, but one at a time has a turn of a few steps, over and over again:
noise of the machine meets all alike. Run as a program, it measures."""
import argparse
import contextlib
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence

from front_end import preload
from front_end.bazel import ROOT
from front_end.children import tail
from front_end.commands import run_command
from front_end.errors import UserError
from front_end.local_ranks import LocalRanks, how
from front_end.options import positive
from front_end.progress import Bar

from .. import algorithms, job, options, table, train
from .experiment import Experiment, Part, Results
from .page import Page, number

PRELOADED = "preloaded"  # the library, with GLOO_ALGO unset
_VARIANTS = (algorithms.PLAIN, PRELOADED, "ring", "optireduce")
_WARMUP_STEPS = 30  # the first 20 allreduces of a size teach the bound
_SCRIPT = os.path.join(ROOT, "benchmark", "training", "ddp_steps.py")
_LIMIT_S = 120.0
_POLL_S = 0.001


class _Variant:
    """The job of one variant. It works only during its turns. A context
    manager that ends its ranks."""

    def __init__(self, name: str, arguments: argparse.Namespace, library: str,
                 folder: str) -> None:
        """`folder`: a new folder for this variant alone."""
        self.name = name
        self._ranks = arguments.ranks
        self._turns = os.path.join(folder, "turns")
        self._log = os.path.join(folder, "log")
        self._read = 0  # position in the log
        self._pipes: list[int] = []
        own = ({"LD_PRELOAD": library} if name == PRELOADED
               else algorithms.variables(name, library))
        self._job = LocalRanks(
            [arguments.python, _SCRIPT, "--turns", self._turns,
             "--log", self._log], arguments.ranks,
            {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo",
             **os.environ, **own}, folder)

    def __enter__(self) -> "_Variant":
        os.mkdir(self._turns)
        for rank in range(self._ranks):
            path = os.path.join(self._turns, f"rank{rank}")
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
                for rank, code in self._job.blamed().items():
                    raise UserError(f"{self.name}: rank {rank} {how(code)}: "
                                    + tail(self._job.output(rank), 12))
                if time.monotonic() > deadline:
                    raise UserError(f"{self.name}: no step in {_LIMIT_S:.0f} "
                                    "s: " + tail(self._job.output(0), 12))
                time.sleep(_POLL_S)
                said += log.read()
            self._read = log.tell()
        return [float(line) for line in said.splitlines()]


def _measure(arguments: argparse.Namespace,
             library: str) -> dict[str, list[list[float]]]:
    """Milliseconds by variant and turn."""
    times: dict[str, list[list[float]]] = {
        name: [] for name in arguments.variants}
    with tempfile.TemporaryDirectory(prefix="steps-") as folder, \
            contextlib.ExitStack() as stack:
        variants = []
        for name in arguments.variants:
            own = os.path.join(folder, name)
            os.mkdir(own)
            variants.append(stack.enter_context(
                _Variant(name, arguments, library, own)))
        for variant in variants:
            variant.turn(_WARMUP_STEPS)
        with Bar() as bar:
            for turn in range(arguments.turns):
                bar.show("steps", completed=turn, total=arguments.turns)
                for variant in variants:
                    times[variant.name].append(variant.turn(arguments.steps))
    return times


def _run(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", type=options.names,
                        default=list(_VARIANTS))
    for name, default in (("turns", 40), ("steps", 5), ("ranks", 4)):
        parser.add_argument(f"--{name}", type=positive(int), default=default)
    parser.add_argument("--python", default=job.DEBIANS)
    parser.add_argument("--library")
    parser.add_argument("--binary")
    parser.add_argument("--json", required=True)
    arguments = parser.parse_args(argv)
    torch = job.torch_version(arguments.python)
    train.check_algorithms(
        [name for name in arguments.variants if name != PRELOADED],
        arguments.ranks, arguments.binary)
    times = _measure(arguments, preload.built(arguments.library))
    table.write_json(arguments.json, {"torch": torch,
                                      "ranks": arguments.ranks, "ms": times})
    return 0


def main(argv: Sequence[str]) -> int:
    """Measures. Returns the exit code."""
    return run_command(_run, argv)


def _parts(quick: bool) -> Sequence[Part]:
    turns = 5 if quick else 40
    return [Part("ddp", ("python", "-m", "bench.experiments.steps", "--turns",
                         str(turns)), 25 + 4 * turns)]


def row(name: str, times: Mapping[str, Sequence[Sequence[float]]]) -> list[str]:
    """A variant's times, and its medians by turn over the first variant's:
    their median and quartiles."""
    steps = [step for turn in times[name] for step in turn]
    first = next(iter(times))
    ratios = [statistics.median(mine) / statistics.median(others)
              for mine, others in zip(times[name], times[first])]
    low, median, high = (statistics.quantiles(ratios, n=4)
                         if len(ratios) > 1 else ratios * 3)
    return [name, str(len(steps)), number(statistics.median(steps)),
            number(table.percentile(steps, 0.9)),
            number(statistics.fmean(steps)),
            f"{median:.3f} ({low:.3f} to {high:.3f})"]


def _show(results: Results, page: Page) -> None:
    for result in results.values():
        times = result["ms"]
        page.line(f"PyTorch {result['torch']}, {result['ranks']} ranks on "
                  "loopback.")
        page.table(("variant", "steps", "p50 ms", "p90 ms", "mean ms",
                    f"p50 over {next(iter(times))}'s"),
                   [row(name, times) for name in times])


EXPERIMENT = Experiment("steps", "A step of DistributedDataParallel", _parts,
                        _show)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
