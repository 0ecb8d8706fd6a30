# SPDX-License-Identifier: Apache-2.0
"""Commands that train, and what is told of their runs."""
import statistics
from collections.abc import Iterable, Mapping, Sequence

from .markdown import share

START_S = 6  # of a run: its processes, and its data
# In the lab, links so slow that steps wait for them, not for the CPUs that all
# hosts share.
SLOW_LINKS = ("--ranks", "4", "--lab-rate", "200")
EXACT_STEPS = 20  # at first, of bounded algorithms, too


def command(model: str, algorithms: Iterable[str], steps: int,
            evaluate_every: int, *more: str) -> tuple[str, ...]:
    """Epochs are as many as the steps need."""
    return ("benchmark/train", "--model", model, "--algorithms",
            ",".join(algorithms), "--steps", str(steps), "--epochs", "9",
            "--evaluate-every", str(evaluate_every), *more)


def lost_of(runs: Sequence[Mapping]) -> str:
    """What bounded allreduces lost, the mean over runs; empty where none was
    bounded, or it was not asked."""
    lost = [run.get("lost") for run in runs]
    return "" if None in lost else share(statistics.mean(lost))
