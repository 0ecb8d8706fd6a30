# SPDX-License-Identifier: Apache-2.0
"""Decides whether and where a loop pays."""
import dataclasses
import math
import statistics
from collections.abc import Sequence

from front_end.columns import three_digits

from .loops import Loop
from .plan import Results, Runs, Trial
from .run import METRICS, Metric


@dataclasses.dataclass(frozen=True)
class Effect:
    """A loop's effect on one metric in one environment."""

    environment: str
    metric: Metric
    with_loop: float  # mean over seeds
    without: float
    matters: bool  # larger than the seeds' spread, and relevant

    @property
    def pays(self) -> bool:
        return self.matters and self.with_loop < self.without

    @property
    def costs(self) -> bool:
        return self.matters and self.with_loop > self.without

    def __str__(self) -> str:
        return (f"{self.environment} {self.metric.name} "
                f"{number(self.with_loop)}{self.metric.unit} "
                f"({number(self.without)} without)")


def number(value: float) -> str:
    """Formats a number with three significant digits."""
    if value == 0:
        return "0"
    return f"{value:.2g}" if abs(value) < 0.1 else three_digits(value)


def effect(environment: str, metric: Metric, with_loop: Runs,
           without: Runs) -> Effect:
    """The effect on one metric. REQUIRES runs of the same seeds, in the same
    order."""
    ours = [metric.of(run) for run in with_loop]
    others = [metric.of(run) for run in without]
    return Effect(environment, metric, statistics.fmean(ours),
                  statistics.fmean(others), matters(metric, ours, others))


def matters(metric: Metric, ours: Sequence[float],
            others: Sequence[float]) -> bool:
    """Whether the mean difference exceeds the spread between seeds and the
    metric's least relevant difference."""
    gains = [other - own for own, other in zip(ours, others)]
    if any(map(math.isnan, gains)):
        return False
    mean = abs(statistics.fmean(gains))
    base = min(statistics.fmean(ours), statistics.fmean(others))
    return (mean > max(gains) - min(gains) and mean > metric.least
            and mean > metric.least_share * base)


def effects(trial: Trial, results: Results) -> list[Effect]:
    """One effect for each metric; none if a job failed."""
    plain = results.get(trial.environment, trial.plain)
    changed = results.get(trial.environment, trial.changed)
    if any(run.failed for run in (*plain, *changed)):
        return []
    if trial.loop.is_default:
        with_loop, without = plain, changed
    else:
        with_loop, without = changed, plain
    return [effect(trial.environment.name, metric, with_loop, without)
            for metric in METRICS]


def failures(trial: Trial, results: Results) -> list[str]:
    """Describes how the trial's jobs failed, if they did."""
    words = []
    for change, has_loop in ((trial.plain, trial.loop.is_default),
                             (trial.changed, not trial.loop.is_default)):
        failed = [run.failed for run in results.get(trial.environment, change)
                  if run.failed]
        if failed:
            words.append(f"{trial.environment.name} fails "
                         f"{'with' if has_loop else 'without'} it "
                         f"({failed[0]})")
    return words


NOTHING = "buys nothing in any of these environments"
NOT_JUDGED = "is not judged in any of these environments; --help says where"


def verdict(loop: Loop, trials: Sequence[Trial], results: Results) -> str:
    """A sentence that says where the loop pays and where it costs."""
    own = [trial for trial in trials if trial.loop is loop]
    found = [effect for trial in own for effect in effects(trial, results)]
    failed = [text for trial in own for text in failures(trial, results)]
    if not own:
        return NOT_JUDGED
    pays = [str(effect) for effect in found if effect.pays]
    costs = [str(effect) for effect in found if effect.costs]
    words = []
    if found:
        words.append("pays: " + ", ".join(pays) if pays else NOTHING)
    if costs:
        words.append("costs: " + ", ".join(costs))
    if failed:
        words.append("; ".join(failed))
    return "; ".join(words)
