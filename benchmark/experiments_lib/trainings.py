# SPDX-License-Identifier: Apache-2.0
"""Commands that train, and texts about their runs."""
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence

from simulate_lib.simulator import WARMUP_OPS

from .markdown import share

START_S = 5  # for a run's processes and data
# In the lab: links that are slow enough for steps to wait for them, not for
# the CPUs that all hosts share.
SLOW_LINKS = ("--ranks", "4", "--lab-rate", "200")
EXACT_STEPS = WARMUP_OPS  # first steps, also of bounded algorithms
_EPOCHS = 9  # more than any run needs: steps end them


def command(model: str, algorithms: Iterable[str], steps: int,
            evaluations: int, *more: str) -> tuple[str, ...]:
    """A training with this many evaluations, the last one at the end."""
    return ("benchmark/train", "--model", model, "--algorithms",
            ",".join(algorithms), "--steps", str(steps), "--epochs",
            str(_EPOCHS), "--evaluate-every", str(steps // evaluations), *more)


def step_ms(runs: Iterable[Mapping]) -> float:
    """The mean over runs, starting at the first evaluation after the exact
    steps. NaN without two such evaluations."""
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
    """The mean loss of bounded allreduces over runs. Empty if none was
    bounded, or the loss was not requested."""
    lost = [run.get("lost") for run in runs]
    return "" if None in lost else share(statistics.mean(lost))
