# SPDX-License-Identifier: Apache-2.0
"""Text tables, and rows for files."""
import dataclasses
import statistics
from collections.abc import Sequence

from front_end.columns import align
from lab_lib.environments import Environment

from . import plan
from .loops import Change
from .plan import Results, Runs, Trial
from .run import METRICS
from .verdict import matters, number


@dataclasses.dataclass(frozen=True)
class Job:
    """One row of an environment's table."""

    name: str
    change: Change
    against: Change | None = None  # the settings it is compared with


def jobs(trials: Sequence[Trial], baseline: Change) -> list[Job]:
    """The rows for one environment's trials. A job that loops are compared
    with stands above these loops."""
    found = [Job("baseline", baseline)]
    for trial in trials:
        if trial.plain not in [job.change for job in found
                               if job.against is None]:
            found.append(Job(_settings(trial.loop.within), trial.plain))
        sign = "-" if trial.loop.is_default else "+"
        found.append(Job(f"{sign} {trial.loop.name}", trial.changed,
                         trial.plain))
    return found


def _settings(change: Change) -> str:
    return " ".join(f"{name.removeprefix('GLOO_UBT_')}={value}"
                    for name, value in change.lab.items())


def render(trials: Sequence[Trial], results: Results,
           baseline: Change) -> str:
    """The table of the trials' environment."""
    environment = trials[0].environment
    heading = [environment.name]
    for metric in METRICS:
        heading += [metric.name + metric.unit, ""]
    lines = [_cells(job, environment, results)
             for job in jobs(trials, baseline)]
    return (f"{environment.name}: {environment.what}\n\n"
            + "\n".join(align([heading, *lines], 1)) + "\n")


def _cells(job: Job, environment: Environment, results: Results) -> list[str]:
    """The value of each metric, and its change."""
    runs = results.get(environment, job.change)
    if failed(runs):
        return [job.name, *["failed", ""] * len(METRICS)]
    before = results.get(environment, job.against) if job.against else None
    cells = [job.name]
    for metric in METRICS:
        values = [metric.of(run) for run in runs]
        cells += [number(statistics.fmean(values)), ""]
        if before and not failed(before):
            others = [metric.of(run) for run in before]
            ratio = _ratio(statistics.fmean(values), statistics.fmean(others))
            cells[-1] = ratio + ("*" if matters(metric, values, others)
                                 else " ")
    return cells


def _ratio(value: float, other: float) -> str:
    return f"x{value / other:.2f}" if other else ""


def failed(runs: Runs) -> bool:
    return any(run.failed for run in runs)


def rows(trials: Sequence[Trial], results: Results, baseline: Change,
         seeds: Sequence[int]) -> list[dict]:
    """The rows for --json: one for each job and seed."""
    return [{"environment": name, "job": job.name,
             "settings": dict(job.change.lab), "seed": seed,
             "iterations": len(run.times_ms),
             "p50_ms": run.p50_ms if run.times_ms else None,
             "p99_ms": run.p99_ms if run.times_ms else None,
             "loss_fraction": run.loss, "mse": run.mse,
             "worst_se": run.worst, "drift_fraction": run.drift,
             "failed": run.failed or None}
            for name, own in plan.by_environment(trials).items()
            for job in jobs(own, baseline)
            for seed, run in zip(seeds, results.get(own[0].environment,
                                                    job.change))]
