# SPDX-License-Identifier: Apache-2.0
"""Jobs in the lab, on the real transport. All jobs of an environment take
turns."""
import argparse
import math
from collections.abc import Mapping, Sequence

from compare_lib import in_lab
from compare_lib.collect import collect
from compare_lib.errors import CompareError
from compare_lib.processes import PrivateRedis, Workers
from compare_lib.progress import Progress
from compare_lib.table import verdict
from lab_lib.environments import Environment
from lab_lib.lab import Lab
from lab_lib.network import INTERFACE
from lab_lib.settings import Settings

from .loops import Change
from .plan import Results
from .run import Run

TARGET = "//benchmark/comparison:worker"


class _Progress(Progress):
    """Progress over all environments and seeds."""

    def __init__(self, labs: int) -> None:
        super().__init__(range(labs))
        self._done = 0
        self._name = ""

    def enter(self, name: str) -> None:
        self._name = name
        self.show(f"{name}: connecting")

    def leave(self) -> None:
        self._done += 1

    def connected(self) -> None:
        self.show(f"{self._name}: warming up")

    def take(self, event: Mapping, sizes_done: int) -> None:
        super().take(event, self._done)


def measure(arguments: argparse.Namespace, worker: str,
            jobs: Sequence[tuple[Environment, Change]],
            seeds: Sequence[int]) -> Results:
    """Runs the jobs. REQUIRES that isolation.run() called this."""
    grouped: dict[Environment, list[Change]] = {}
    for environment, change in jobs:
        grouped.setdefault(environment, []).append(change)
    results = Results()
    with PrivateRedis() as redis, _Progress(
            len(grouped) * len(seeds)) as progress:
        for environment, changes in grouped.items():
            by_seed = []
            for seed in seeds:
                progress.enter(f"{environment.name}, seed {seed}")
                by_seed.append(_side_by_side(arguments, worker, Settings(
                    environment, seed=seed, flows=environment.flows), changes,
                    redis.url, progress))
                progress.leave()
            for change, runs in zip(changes, zip(*by_seed)):
                results.put(environment, change, runs)
    return results


def _side_by_side(arguments: argparse.Namespace, worker: str,
                  settings: Settings, changes: Sequence[Change],
                  redis_url: str, progress: _Progress) -> list[Run]:
    options = [
        "--redis-url", redis_url,
        "--prefix", f"{settings.environment.name} {settings.seed}",
        "--elements", str(arguments.elements),
        "--seconds", str(arguments.seconds), "--interface", INTERFACE,
        "--samples", *in_lab.worker_options(settings)]
    for number, change in enumerate(changes):
        options += ["--variant", " ".join([f"job{number}", *(
            f"{name}={value}" for name, value in change.lab.items())])]
    try:
        with Lab(settings) as lab:
            accounts = in_lab.Accounts(lab)
            with Workers(worker, options, range(settings.hosts),
                         settings.hosts, lab) as workers:
                found = collect(workers, len(changes), accounts, progress)
    except CompareError as error:  # keeps the other results
        return [Run((), *[math.nan] * 4, failed=str(error)) for _ in changes]
    return [run_of(row, samples) for row, samples in found]


def run_of(row: Mapping, samples_us: Sequence[float]) -> Run:
    """The run that a worker's report describes."""
    sound = verdict(row)
    failed = "" if sound == "yes" else f"its results are {sound}"
    return Run([us / 1000 for us in samples_us], row["loss_fraction"],
               row["drift_fraction"], row["mse"], row["worst_se"], failed,
               f"{row['algorithm']}: {failed}" if sound == "WRONG" else "")
