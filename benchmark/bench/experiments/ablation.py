# SPDX-License-Identifier: Apache-2.0
"""What each control loop and safeguard buys: the same job as shipped and with
one of them switched off, or on if it is off by default."""
import dataclasses
import math
import statistics
from collections.abc import Mapping, Sequence

from ..lab.environments import Environment, parse
from ..table import number
from .experiment import Experiment, Part, Results
from .page import Page

Settings = Mapping[str, str]  # of an algorithm's name
Seeds = Sequence[Mapping]  # the figures of each seed
Jobs = Mapping[str, Seeds]  # by algorithm's name

_HEAVY = 0.3  # least packet loss that judges safeguards
_SAFEGUARD = (_HEAVY, 1)


@dataclasses.dataclass(frozen=True)
class Loop:
    name: str
    settings: Settings  # of its variant
    # Settings that the loop needs. Both sides of the comparison have them.
    within: Settings = dataclasses.field(default_factory=dict)
    # False: off by default, so its variant is the one with the loop.
    is_default: bool = True
    # The least and the largest packet loss of environments that judge it.
    losses: tuple[float, float] = (0, _HEAVY)


# docs/results/ablation.md says what each does.
LOOPS = {loop.name: loop for loop in (
    Loop("cuts", {"cut_budget": "0"}),
    Loop("window", {"without": "window"}),
    Loop("trains", {"without": "trains"}),
    Loop("hadamard", {"hadamard": "off"}),
    Loop("hadamard-switch", {"hadamard": "on"}),
    Loop("repair", {"repair": "none"}),
    Loop("lead", {"lead_ops": "1"}),
    Loop("multicast", {"multicast": "auto", "auth": "full"},
         is_default=False),
    Loop("zero-loss", {"zero_loss": "0"}, within={"halt_loss": "0"},
         losses=_SAFEGUARD),
    Loop("skip-loss", {"skip_loss": "0.05"}, is_default=False,
         losses=(0.01, _HEAVY)),
    Loop("halt-loss", {"halt_loss": "0"}, losses=_SAFEGUARD),
)}
_QUICK_LOOPS = ("cuts", "window", "hadamard", "repair")
_BROADCAST: Settings = {}  # the default
_NONE: Settings = {"repair": "none"}
# Parts in the simulator: environment and baseline.
_JOBS = {**{name.replace(":", "-"): (name, _BROADCAST) for name in (
    "clean", "p1.5", "p3", "micro", "straggler", "lossy", "lossy:0.05",
    "lossy:0.6")}, "p3-none": ("p3", _NONE)}
_PART_S = 210


def name_of(settings: Settings) -> str:
    """The algorithm's name."""
    return "+".join(("optireduce", *(
        f"{name}={value}" for name, value in settings.items())))


@dataclasses.dataclass(frozen=True)
class Trial:
    """A loop in an environment: two jobs."""

    loop: Loop
    plain: Settings
    changed: Settings


def trials(loops: Sequence[str], environment: Environment,
           baseline: Settings) -> list[Trial]:
    """Leaves out loops that are judged at other losses, and loops whose
    variant equals the unchanged job."""
    found = []
    for loop in map(LOOPS.__getitem__, loops):
        plain = {**baseline, **loop.within}
        changed = {**plain, **loop.settings}
        least, most = loop.losses
        if least <= environment.loss <= most and changed != plain:
            found.append(Trial(loop, plain, changed))
    return found


def algorithms(own: Sequence[Trial], baseline: Settings) -> list[str]:
    """All jobs of the trials, each once, the baseline first."""
    return list(dict.fromkeys([name_of(baseline), *(
        name_of(settings) for trial in own
        for settings in (trial.plain, trial.changed))]))


def _parts(quick: bool) -> Sequence[Part]:
    names = ("p3",) if quick else _JOBS
    parts = []
    for name in names:
        environment, baseline = _JOBS[name]
        own = trials(_QUICK_LOOPS if quick else tuple(LOOPS),
                     parse(environment), baseline)
        size = (("--elements", "100000", "--ops", "20", "--seeds", "3")
                if quick else ("--ops", "60", "--seeds", "4"))
        parts.append(Part(
            name, ("benchmark/simulate", "--lab", environment, "--ranks", "8",
                   "--errors", *size, "--algorithms",
                   ",".join(algorithms(own, baseline))),
            15 if quick else _PART_S, says_failures=True))
    return parts


@dataclasses.dataclass(frozen=True)
class Metric:
    """Less is better."""

    name: str
    key: str
    # A smaller difference does not matter to a user, even if it is certain.
    least_share: float = 0.05
    least: float = 1e-4

    def of(self, seeds: Seeds) -> list[float]:
        return [seed[self.key] for seed in seeds]


METRICS = (
    Metric("p50 ms", "p50_ms", 0.01, 0), Metric("p99 ms", "p99_ms", 0.01, 0),
    Metric("loss", "loss_fraction"), Metric("mse", "mse"),
    Metric("worst", "worst_se", least=1e-2),
    Metric("drift", "drift_fraction"),
)


def matters(metric: Metric, ours: Sequence[float],
            others: Sequence[float]) -> bool:
    """Whether the mean difference exceeds the spread between seeds and the
    metric's least relevant difference. REQUIRES the same seeds in the same
    order."""
    gains = [other - own for own, other in zip(ours, others)]
    if any(map(math.isnan, gains)):
        return False
    mean = abs(statistics.fmean(gains))
    base = min(statistics.fmean(ours), statistics.fmean(others))
    return (mean > max(gains) - min(gains) and mean > metric.least
            and mean > metric.least_share * base)


def _failed(seeds: Seeds) -> bool:
    return any(seed["failed"] for seed in seeds)


def effects(trial: Trial, jobs: Jobs) -> list[tuple[Metric, float, float]]:
    """The metrics that the loop changes, with it and without it: those that
    matter. Empty if a job failed."""
    plain, changed = (jobs[name_of(settings)]
                      for settings in (trial.plain, trial.changed))
    if _failed(plain) or _failed(changed):
        return []
    with_loop, without = ((plain, changed) if trial.loop.is_default
                          else (changed, plain))
    return [(metric, statistics.fmean(metric.of(with_loop)),
             statistics.fmean(metric.of(without))) for metric in METRICS
            if matters(metric, metric.of(with_loop), metric.of(without))]


def _cells(seeds: Seeds, before: Seeds | None) -> list[str]:
    """The mean of each metric, its ratio to `before`, and a mark."""
    if _failed(seeds):
        return ["failed"] * len(METRICS)
    cells = []
    for metric in METRICS:
        values = metric.of(seeds)
        cell = number(statistics.fmean(values))
        if before and not _failed(before):
            others = metric.of(before)
            base = statistics.fmean(others)
            mark = "*" if matters(metric, values, others) else ""
            cell += (f" x{statistics.fmean(values) / base:.2f}{mark}" if base
                     else f" {mark}").rstrip()
        cells.append(cell)
    return cells


def rows(own: Sequence[Trial], baseline: Settings,
         jobs: Jobs) -> list[list[str]]:
    """The rows for one environment. A job that loops are compared with stands
    above these loops."""
    lines = [["baseline",
              *_cells(jobs[name_of(baseline)], None)]]
    shown = [baseline]
    for trial in own:
        plain = jobs[name_of(trial.plain)]
        if trial.plain not in shown:
            shown.append(trial.plain)
            lines.append([", ".join(f"{name}={value}" for name, value
                                    in trial.loop.within.items()),
                          *_cells(plain, None)])
        sign = "-" if trial.loop.is_default else "+"
        lines.append([f"{sign} {trial.loop.name}", *_cells(
            jobs[name_of(trial.changed)], plain)])
    return lines


def _of_part(name: str, jobs: Jobs) -> tuple[Environment, Settings,
                                             list[Trial]]:
    """The trials that this part has results of."""
    environment, baseline = _JOBS[name]
    kind = parse(environment)
    return kind, baseline, [
        trial for trial in trials(tuple(LOOPS), kind, baseline)
        if {name_of(trial.plain), name_of(trial.changed)}
        <= set(jobs)]


def _told(found: Sequence[tuple[str, tuple[Metric, float, float]]]) -> str:
    return "; ".join(f"{place} {metric.name} {number(ours)} ({number(others)})"
                     for place, (metric, ours, others) in found)


def _show(results: Results, page: Page) -> None:
    found: dict[str, list] = {}
    for name, results_of_part in results.items():
        jobs = {row["algorithm"]: row["by_seed"] for row in results_of_part}
        environment, baseline, own = _of_part(name, jobs)
        for trial in own:
            found.setdefault(trial.loop.name, []).extend(
                (name, effect) for effect in effects(trial, jobs))
        page.heading(f"{name}: {environment.what}")
        page.table(("", *(metric.name for metric in METRICS)),
                   rows(own, baseline, jobs))
    page.heading("Where a loop pays, and where it costs")
    page.line("The figure with it, and in brackets without it.")
    page.table(("loop", "pays", "costs"), [
        (loop, _told([effect for effect in own
                      if effect[1][1] < effect[1][2]]) or "nowhere",
         _told([effect for effect in own
                if effect[1][1] > effect[1][2]]) or "nowhere")
        for loop, own in found.items()], words=3)


EXPERIMENT = Experiment("ablation", "Each control loop and safeguard "
                        "(simulated)", _parts, _show)
