# SPDX-License-Identifier: Apache-2.0
"""Commands that train, and what is told of their runs."""
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence

from simulate_lib.simulator import WARMUP_OPS

from .markdown import share

START_S = 5  # of a run: its processes, and its data
# In the lab, links so slow that steps wait for them, not for the CPUs that all
# hosts share.
SLOW_LINKS = ("--ranks", "4", "--lab-rate", "200")
EXACT_STEPS = WARMUP_OPS  # at first, of bounded algorithms, too
_EPOCHS = 9  # more than any needs: steps end them


def command(model: str, algorithms: Iterable[str], steps: int,
            evaluations: int, *more: str) -> tuple[str, ...]:
    """Evaluated so often, the last time at the end."""
    return ("benchmark/train", "--model", model, "--algorithms",
            ",".join(algorithms), "--steps", str(steps), "--epochs",
            str(_EPOCHS), "--evaluate-every", str(steps // evaluations), *more)


def step_ms(runs: Iterable[Mapping]) -> float:
    """The mean over runs, from the first evaluation after the exact steps on;
    NaN: there are no two such."""
    found = []
    for run in runs:
        warm = [point for point in run["accuracies"]
                if point["step"] > EXACT_STEPS]
        if len(warm) > 1:
            seconds, steps = (warm[-1][key] - warm[0][key]
                              for key in ("seconds", "step"))
            found.append(1000 * seconds / steps)
    return statistics.mean(found) if found else math.nan


def lost_of(runs: Sequence[Mapping]) -> str:
    """What bounded allreduces lost, the mean over runs; empty where none was
    bounded, or it was not asked."""
    lost = [run.get("lost") for run in runs]
    return "" if None in lost else share(statistics.mean(lost))
