# SPDX-License-Identifier: Apache-2.0
"""What each control loop and safeguard buys: the same job as shipped and with
one of them switched off, or on if it is off by default."""
import dataclasses
import math
import statistics
from collections.abc import Mapping, Sequence

from ..lab.environments import parse
from ..table import number
from .experiment import Experiment, Part, Results
from .page import Page

Settings = Mapping[str, str]  # of an algorithm's name
Seeds = Sequence[Mapping]  # the figures of each seed
Jobs = Mapping[str, Seeds]  # by algorithm's name


@dataclasses.dataclass(frozen=True)
class Loop:
    name: str
    settings: Settings  # of its variant
    # Settings that the loop needs. Both sides of the comparison have them.
    within: Settings = dataclasses.field(default_factory=dict)
    # False: off by default, so its variant is the one with the loop.
    is_default: bool = True


# transport_ubt/core/base/loop_set.h describes each loop.
_STAGES = ("factor", "absent", "split", "spacing", "half",
           "results_first", "majority")
_SENDERS = ("order", "shares", "early_credit", "loss_numbers", "reordering",
            "notice_delay", "trains")
_WINDOWS = ("window", "queue", "traffic", "buffer", "base_loss", "marks")
_CONTROL = tuple(Loop(name, {"without": name})
                 for name in (*_STAGES, *_SENDERS, *_WINDOWS))
_OTHERS = (
    Loop("cuts", {"cut_budget": "0"}),
    Loop("hadamard", {"hadamard": "off"}),
    Loop("hadamard-switch", {"hadamard": "on"}),
    Loop("repair", {"repair": "none"}),
    Loop("lead", {"lead_ops": "1"}),
    Loop("multicast", {"multicast": "auto", "auth": "full"},
         is_default=False),
    Loop("zero-loss", {"zero_loss": "0"}, within={"halt_loss": "0"}),
    Loop("skip-loss", {"skip_loss": "0.05"}, is_default=False),
    Loop("halt-loss", {"halt_loss": "0"}),
)
LOOPS = {loop.name: loop for loop in (*_CONTROL, *_OTHERS)}
_NAMES = tuple(loop.name for loop in _CONTROL)
_NONE: Settings = {"repair": "none"}


@dataclasses.dataclass(frozen=True)
class Network:
    """A network, and the loops that it judges."""

    name: str
    what: str
    options: Sequence[str]  # of benchmark/simulate
    loops: Sequence[str]
    seconds: float
    baseline: Settings = dataclasses.field(default_factory=dict)
    errors: bool = False  # whether errors of sums are judged, too
    ops: int = 60
    seeds: int = 4

    def part(self, quick: bool = False) -> Part:
        small = ("--elements", "100000", "--ops", "20", "--seeds", "3")
        return Part(
            self.name, ("benchmark/simulate", *self.options,
                        *(("--errors",) if self.errors else ()),
                        *(small if quick else (
                            "--ops", str(self.ops), "--seeds",
                            str(self.seeds))),
                        "--algorithms", ",".join(algorithms(
                            trials(self.loops, self.baseline),
                            self.baseline))),
            15 if quick else self.seconds, says_failures=True)


def _lab(name: str, environment: str, loops: Sequence[str], seconds: float,
         **more: object) -> Network:
    """An environment of the lab."""
    return Network(name, parse(environment).what,
                   ("--lab", environment, "--ranks", "8"), loops, seconds,
                   **more)


def _control(environment: str, suffix: str = "", **more: object) -> Network:
    """All control loops."""
    return _lab(environment.replace(":", "-") + suffix, environment,
                (*_NAMES, "cuts"), 330, **more)


def _safe(environment: str, *loops: str) -> Network:
    """Safeguards, with errors of sums."""
    return _lab(f"safeguards-{environment.replace(':', '-')}", environment,
                loops, 150, errors=True)


def _short(name: str, what: str, ranks: int, more: str, *loops: str,
           mtu: int = 1500, seconds: float = 40, ops: int = 30,
           seeds: int = 3) -> Network:
    """Few loops, on a faster network with a difficulty of its own."""
    return Network(name, what, ("--ranks", str(ranks), "--mtu", str(mtu),
                                "--also", more), loops, seconds, ops=ops,
                   seeds=seeds)


_TRANSPORT = ("hadamard", "hadamard-switch", "repair", "lead", "multicast")
NETWORKS = (
    _control("p1.5"),
    _control("p3"),
    _control("p3", "-none", baseline=_NONE),
    *map(_control, ("micro", "stalls3", "straggler", "jitter", "lossy:0.05")),
    _short("short-queue", "64 ranks in front of queues of 128 KiB", 64,
           "queue_bytes=131072", "window", "queue", "traffic", "base_loss",
           "shares", seconds=660, ops=12, seeds=2),
    _short("small-buffer", "rank 0 reads its buffer of 208 KiB each 400 us", 8,
           "inbox_bytes=212992,inbox_polls=0,inbox_polls_every_ns=400000",
           "window", "buffer", "notice_delay"),
    Network("marks", "p3, with queues that mark from 64 KiB on",
            ("--lab", "p3", "--ranks", "8", "--also", "mark_bytes=65536"),
            ("marks", "traffic"), 60),
    _short("middle-queue", "queues of 192 KiB", 8, "queue_bytes=196608",
           "window", "queue", "traffic"),
    _short("overtaken", "5 % of datagrams are overtaken by up to 20", 8,
           "reorder=0.05,reorder_by_ns=144000", "reordering", "loss_numbers",
           "window", mtu=9000),
    _lab("mostly-lost", "lossy:0.6", ("majority", "cuts"), 60),
    _safe("p3", *_TRANSPORT),
    _safe("lossy:0.05", *_TRANSPORT, "skip-loss"),
    _safe("lossy:0.6", "zero-loss", "halt-loss"),
)
_QUICK = _lab("p3", "p3", ("absent", "window", "trains", "cuts"), 15)


def name_of(settings: Settings) -> str:
    """The algorithm's name."""
    return "+".join(("optireduce", *(
        f"{name}={value}" for name, value in settings.items())))


@dataclasses.dataclass(frozen=True)
class Trial:
    """A loop on a network: two jobs."""

    loop: Loop
    plain: Settings
    changed: Settings


def trials(loops: Sequence[str], baseline: Settings) -> list[Trial]:
    """Leaves out loops whose variant equals the unchanged job."""
    found = []
    for loop in map(LOOPS.__getitem__, loops):
        plain = {**baseline, **loop.within}
        changed = {**plain, **loop.settings}
        if changed != plain:
            found.append(Trial(loop, plain, changed))
    return found


def algorithms(own: Sequence[Trial], baseline: Settings) -> list[str]:
    """All jobs of the trials, each once, the baseline first."""
    return list(dict.fromkeys([name_of(baseline), *(
        name_of(settings) for trial in own
        for settings in (trial.plain, trial.changed))]))


def _parts(quick: bool) -> Sequence[Part]:
    return ([_QUICK.part(True)] if quick
            else [network.part() for network in NETWORKS])


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


_TIMES = (Metric("step ms", "step_mean_ms", 0.01, 0),
          Metric("slow step ms", "step_slow_tenth_ms", 0.02, 0),
          Metric("missing", "loss_fraction"))
_ERRORS = (Metric("mse", "mse"), Metric("worst", "worst_se", least=1e-2),
           Metric("drift", "drift_fraction"))
METRICS = (*_TIMES, *_ERRORS)


def metrics_of(jobs: Jobs) -> Sequence[Metric]:
    """Those that were measured."""
    return METRICS if all(_ERRORS[0].key in seed for seeds in jobs.values()
                          for seed in seeds) else _TIMES


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
             statistics.fmean(metric.of(without)))
            for metric in metrics_of(jobs)
            if matters(metric, metric.of(with_loop), metric.of(without))]


def _cells(seeds: Seeds, before: Seeds | None,
           metrics: Sequence[Metric]) -> list[str]:
    """The mean of each metric, its ratio to `before`, and a mark."""
    if _failed(seeds):
        return ["failed"] * len(metrics)
    cells = []
    for metric in metrics:
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
    """The rows for one network. A job that loops are compared with stands
    above these loops."""
    metrics = metrics_of(jobs)
    lines = [["baseline", *_cells(jobs[name_of(baseline)], None, metrics)]]
    shown = [baseline]
    for trial in own:
        plain = jobs[name_of(trial.plain)]
        if trial.plain not in shown:
            shown.append(trial.plain)
            lines.append([", ".join(f"{name}={value}" for name, value
                                    in trial.loop.within.items()),
                          *_cells(plain, None, metrics)])
        sign = "-" if trial.loop.is_default else "+"
        lines.append([f"{sign} {trial.loop.name}", *_cells(
            jobs[name_of(trial.changed)], plain, metrics)])
    return lines


def _told(found: Sequence[tuple[str, tuple[Metric, float, float]]]) -> str:
    return "; ".join(
        f"{network} {metric.name} {number(ours)} ({number(others)})"
        for network, (metric, ours, others) in found)


def _show(results: Results, page: Page) -> None:
    found: dict[str, list] = {name: [] for name in LOOPS}
    judged = set()
    for network in NETWORKS:
        jobs = {row["algorithm"]: row["by_seed"]
                for row in results.get(network.name, ())}
        own = [trial for trial in trials(network.loops, network.baseline)
               if {name_of(trial.plain), name_of(trial.changed)} <= set(jobs)]
        for trial in own:
            judged.add(trial.loop.name)
            found[trial.loop.name].extend(
                (network.name, effect) for effect in effects(trial, jobs))
        if own:
            page.heading(f"{network.name}: {network.what}")
            page.table(("", *(metric.name for metric in metrics_of(jobs))),
                       rows(own, network.baseline, jobs))
    page.heading("Where a loop pays, and where it costs")
    page.line("The figure with it, and in brackets without it.")
    page.table(("loop", "pays", "costs"), [
        (loop, _told([effect for effect in own
                      if effect[1][1] < effect[1][2]]) or "nowhere",
         _told([effect for effect in own
                if effect[1][1] > effect[1][2]]) or "nowhere")
        for loop, own in found.items() if loop in judged], words=3)


EXPERIMENT = Experiment("ablation", "Each control loop and safeguard "
                        "(simulated)", _parts, _show)
