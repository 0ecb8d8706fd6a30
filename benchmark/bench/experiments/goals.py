# SPDX-License-Identifier: Apache-2.0
"""Compares the bounded allreduce with the ring in every environment of the lab,
with five seeds, and with the bound that the capacity of the ports sets."""
import dataclasses
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy

from .. import plot, table
from ..lab import accounts
from . import figures
from .experiment import Experiment, Part, Results
from .page import Page, number, share

_SEEDS = range(1, 6)
_NONE, _DEFAULT = figures.BOUNDED
_PAPER = f"{_NONE}+loops=paper"
_OURS = (_NONE, _DEFAULT, _PAPER)
_ITERATIONS = 100  # about, of each algorithm and seed
_ITERATION_S = 0.17
# Of the bootstrap: the interval holds 95 % of its resamples.
_RESAMPLES = 1000
_INTERVAL = (2.5, 97.5)


@dataclasses.dataclass(frozen=True)
class _Place:
    """An environment, on links of one kind."""

    environment: str
    ranks: int = 8
    rate_mbit: int = 500
    mtu: int = 1500

    @property
    def title(self) -> str:
        usual = _Place(self.environment)
        return self.environment if self == usual else (
            f"{self.environment}, {self.ranks} hosts, {self.rate_mbit} Mbit/s"
            + ("" if self.mtu == usual.mtu else f", MTU {self.mtu}"))

    def part(self, seed: int) -> Part:
        usual = _Place(self.environment)
        more = [text for name, own, value in (
            ("--lab-rate", self.rate_mbit, usual.rate_mbit),
            ("--lab-mtu", self.mtu, usual.mtu)) if own != value
                for text in (name, str(own))]
        part = figures.comparison(
            self._name(seed), self.environment, (figures.RING, *_OURS),
            _ITERATIONS * _ITERATION_S * usual.rate_mbit / self.rate_mbit + 2,
            self.ranks, seed=seed)
        return dataclasses.replace(part, command=(*part.command, *more))

    def _name(self, seed: int) -> str:
        return (f"{self.environment}-{self.ranks}-hosts-{self.rate_mbit}-mbit-"
                f"seed-{seed}")

    def rows(self, results: Results, algorithm: str) -> list[Mapping]:
        """The algorithm's, of all seeds."""
        return figures.undisturbed(results, map(self._name, _SEEDS), algorithm)


# A statistic of the times of iterations, in the last axis.
_Statistic = Callable[[numpy.ndarray], numpy.ndarray]


def _median(times: numpy.ndarray) -> numpy.ndarray:
    return numpy.median(times, axis=-1)


def _mean(times: numpy.ndarray) -> numpy.ndarray:
    return times.mean(axis=-1)


def _p99(times: numpy.ndarray) -> numpy.ndarray:
    return numpy.percentile(times, 99, axis=-1)


def _slow_tenth(times: numpy.ndarray) -> numpy.ndarray:
    return numpy.apply_along_axis(
        lambda own: table.mean_of_slowest(own.tolist(), 0.1), -1, times)


def _pooled(rows: Iterable[Mapping]) -> numpy.ndarray:
    """The times of all iterations of all rows, in us. A row has percentiles, so
    these are about its times."""
    return numpy.concatenate([
        numpy.interp(numpy.linspace(0, 100, row["iterations"]),
                     numpy.arange(101), row["percentiles_us"])
        for row in rows])


@dataclasses.dataclass(frozen=True)
class _Found:
    value: float
    low: float  # of the interval
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


def _ratio(over: Sequence[Mapping], under: Sequence[Mapping],
           statistic: _Statistic) -> _Found:
    """The interval is that of a pooled bootstrap: it draws as many iterations
    from those of all seeds."""
    generator = numpy.random.default_rng(1)
    times = [_pooled(rows) for rows in (over, under)]
    drawn = [statistic(generator.choice(own, (_RESAMPLES, own.size)))
             for own in times]
    low, high = numpy.percentile(drawn[0] / drawn[1], _INTERVAL)
    return _Found(float(statistic(times[0]) / statistic(times[1])), float(low),
                  float(high))


def _over_seeds(values: Sequence[float]) -> _Found:
    """Of one value a seed. The interval is their range."""
    return _Found(float(numpy.mean(values)), min(values), max(values))


@dataclasses.dataclass(frozen=True)
class _Statistics:
    """A statistic of the times of iterations, and the same one of steps."""

    name: str
    of_iterations: _Statistic
    of_steps: str  # the key of a row


_MEAN = _Statistics("mean", _mean, "step_mean_us")
_SLOW_TENTH = _Statistics("slowest tenth", _slow_tenth, "step_slow_tenth_us")


@dataclasses.dataclass(frozen=True)
class _Goal:
    """A goal of an environment. `bounds` and `goals` are those of `none` and of
    the default. A bound is set by the capacity of the ports; None: not
    computed."""

    place: _Place
    what: str
    bounds: tuple[float | None, float | None]
    goals: tuple[float, float]
    # Of the place's results by algorithm; None if some are missing.
    measure: Callable[[Results, _Place, str], _Found | None]
    most: bool = False  # the goal is a maximum
    # Of steps, too; None: steps have none.
    statistics: _Statistics | None = None

    def holds(self, value: float, goal: float) -> bool:
        return value <= goal if self.most else value >= goal

    def of_steps(self, results: Results, algorithm: str) -> str:
        """The ring's steps over its own."""
        if self.statistics is None:
            return ""
        ring, own = (_mean_of(self.place.rows(results, name),
                              self.statistics.of_steps)
                     for name in (figures.RING, algorithm))
        return number(ring / own)

    def reached(self, results: Results, algorithm: str,
                bound: float) -> tuple[str, ...]:
        """The time in ms that the bound allows, those of its iterations and
        steps, and the part of the bound that steps reach."""
        ring, own = (
            float(self.statistics.of_iterations(
                _pooled(self.place.rows(results, name)))) / 1000
            for name in (figures.RING, algorithm))
        allowed = ring / bound
        step = _mean_of(self.place.rows(results, algorithm),
                        self.statistics.of_steps) / 1000
        return tuple(map(number, (allowed, own, step, allowed / step)))


def _mean_of(rows: Sequence[Mapping], key: str) -> float:
    return figures.mean(rows, operator.itemgetter(key))


def _times(statistic: _Statistic) -> Callable[[Results, _Place, str],
                                              _Found | None]:
    """The ring's time over its own."""
    def measure(results: Results, place: _Place,
                algorithm: str) -> _Found | None:
        ring = place.rows(results, figures.RING)
        own = place.rows(results, algorithm)
        return _ratio(ring, own, statistic) if ring and own else None
    return measure


def _over_clean(results: Results, place: _Place,
                algorithm: str) -> _Found | None:
    own = place.rows(results, algorithm)
    clean = _Place("clean").rows(results, algorithm)
    return _ratio(own, clean, _mean) if own and clean else None


def _cpu(results: Results, place: _Place, algorithm: str) -> _Found | None:
    ratios = [own["cpu_s_per_gb"] / ring["cpu_s_per_gb"] for ring, own in zip(
        place.rows(results, figures.RING), place.rows(results, algorithm))]
    return _over_seeds(ratios) if ratios else None


def _cut(results: Results, place: _Place, algorithm: str) -> _Found | None:
    own = [100 * row["cut_fraction"] for row in place.rows(results, algorithm)]
    return _over_seeds(own) if own else None


_CPU = "CPU time, its / ring's"


def _goal_of(statistics: _Statistics, place: _Place,
             bounds: tuple[float | None, float | None],
             goals: tuple[float, float]) -> _Goal:
    return _Goal(place, f"{statistics.name}, ring's / its", bounds, goals,
                 _times(statistics.of_iterations), statistics=statistics)


_FOUR, _FOUR_JUMBO = (4, 2000), (4, 4000, 9000)


def _late(environment: str) -> tuple[_Goal, ...]:
    place = _Place(environment)
    return (_Goal(place, "p99, ring's / its", (3.5, 3.5), (2.9, 2.9),
                  _times(_p99)),
            _goal_of(_MEAN, place, (None, None), (1.25, 1.25)),
            _Goal(place, "cut, %", (1.25, 1.25), (1.5, 1.5), _cut, most=True))


# A fluid model of ports gave the bounds, with 2.5 % left out.
_GOALS = (
    _Goal(_Place("clean"), "median, ring's / its", (1.03, 1.02), (1.0, 0.99),
          _times(_median)),
    _Goal(_Place("clean"), _CPU, (1.15, 1.15), (1.8, 1.8), _cpu, most=True),
    _goal_of(_SLOW_TENTH, _Place("p1.5"), (1.32, 1.16), (1.22, 1.08)),
    _goal_of(_MEAN, _Place("p1.5"), (None, None), (1.0, 0.98)),
    _goal_of(_SLOW_TENTH, _Place("p3"), (2.14, 1.5), (1.95, 1.35)),
    _goal_of(_MEAN, _Place("p3"), (1.11, 1.07), (1.08, 1.03)),
    _goal_of(_MEAN, _Place("micro"), (1.44, 1.29), (1.35, 1.22)),
    _goal_of(_MEAN, _Place("stalls1.5"), (1.18, 1.17), (1.12, 1.08)),
    _goal_of(_SLOW_TENTH, _Place("stalls1.5"), (1.6, 1.4), (1.45, 1.25)),
    _goal_of(_MEAN, _Place("stalls3"), (1.14, 1.12), (1.08, 1.05)),
    _goal_of(_SLOW_TENTH, _Place("stalls3"), (1.67, 1.35), (1.5, 1.2)),
    _goal_of(_MEAN, _Place("paused"), (1.19, 1.17), (1.1, 1.1)),
    *_late("straggler"), *_late("varying"),
    _goal_of(_MEAN, _Place("varying10"), (None, None), (1.5, 1.5)),
    _Goal(_Place("lossy"), "mean, its / its in clean", (1.0, 1.0),
          (1.01, 1.03), _over_clean, most=True),
    _Goal(_Place("clean", *_FOUR), _CPU, (None, None), (1.3, 1.3), _cpu,
          most=True),
    _Goal(_Place("clean", *_FOUR_JUMBO), _CPU, (None, None), (1.0, 1.0), _cpu,
          most=True),
    _goal_of(_SLOW_TENTH, _Place("p3", *_FOUR), (None, None), (1.9, 1.35)),
    _goal_of(_MEAN, _Place("p3", *_FOUR), (None, None), (1.13, 1.03)),
)
# Of contributions, with the default settings.
_CUT_BUDGET = 0.025
_PLACES = tuple(dict.fromkeys(goal.place for goal in _GOALS))
_DRAWN = ("p3", "micro", "varying")
_QUICK = ("p3",)


def _parts(quick: bool) -> Sequence[Part]:
    if quick:
        return [_Place(environment).part(_SEEDS[0]) for environment in _QUICK]
    # All places with one seed before any with another: an interrupted run has
    # most to show.
    return [place.part(seed) for seed in _SEEDS for place in _PLACES]


def _picture(results: Results, page: Page) -> None:
    found = {place.title: rows for place in map(_Place, _DRAWN)
             if (rows := {name: own for name in (figures.RING, *figures.BOUNDED)
                          if (own := place.rows(results, name))})}
    if found:
        page.picture(
            "goals", "Share of iterations that take longer, 8 ranks, 4 MB", [
                (title, plot.tails({
                    name: numpy.percentile(_pooled(own) / 1000,
                                           numpy.arange(101)).tolist()
                    for name, own in rows.items()}))
                for title, rows in found.items()])


def _show(results: Results, page: Page) -> None:
    _picture(results, page)
    lines = []
    for goal in _GOALS:
        found = [goal.measure(results, goal.place, name) for name in _OURS]
        if found[0] is None or found[1] is None:
            continue
        cells = [cell for name, bound, least, own in zip(
            _OURS, goal.bounds, goal.goals, found)
                 for cell in (number(bound), number(least), str(own),
                              goal.of_steps(results, name),
                              "holds" if goal.holds(own.value, least)
                              else "fails")]
        lines.append((goal.place.title, goal.what, *cells,
                      str(found[2]) if found[2] else ""))
    page.table(
        ("environment", "what", f"{_NONE}: bound", "goal", "found", "steps",
         "verdict", f"{_DEFAULT}: bound", "goal", "found", "steps", "verdict",
         _PAPER), lines,
        words=2)
    reached = [
        (goal.place.title, goal.statistics.name,
         *(cell for name, bound in zip(figures.BOUNDED, goal.bounds)
           for cell in goal.reached(results, name, bound)))
        for goal in _GOALS if goal.statistics and None not in goal.bounds
        and goal.place.rows(results, figures.RING)]
    if reached:
        page.heading("What is reached of the bounds")
        page.table(
            ("environment", "what", f"{_NONE}: bound ms", "iterations ms",
             "steps ms", "bound / steps", f"{_DEFAULT}: bound ms",
             "iterations ms", "steps ms", "bound / steps"), reached, words=2)
    cut = [(place.title, *cells) for place in _PLACES
           if (cells := [cell for name in figures.BOUNDED
                         for cell in _left_out(place.rows(results, name))])]
    if cut:
        page.heading("What results lack")
        page.table(
            ("environment",
             *(f"{name}: {what}" for name in figures.BOUNDED for what in (
                 "cut", "most of a seed", f"at most {share(_CUT_BUDGET)}",
                 "lost", "results filled"))), cut)
    page.heading("Times")
    for place in _PLACES:
        rows = {name: own for name in (figures.RING, *_OURS)
                if (own := place.rows(results, name))}
        if rows:
            page.line(f"{place.title}:")
            page.table(
                ("algorithm", "p50 ms", "mean ms", "slowest tenth ms",
                 "p99 ms", "steps' mean ms", "steps' slowest tenth ms",
                 "missing", "CPU s/GB", "iterations", "seeds"),
                [(name, *_summary(own)) for name, own in rows.items()])
    marked = sum(map(figures.disturbed, results.values()))
    if marked:
        page.line(f"Not used: {marked} run{'s' if marked > 1 else ''}, because "
                  f"other processes took over {share(accounts.OTHERS_MOST)} "
                  "of the CPUs.")


def _left_out(rows: Sequence[Mapping]) -> tuple[str, ...]:
    """The share that was cut, with a verdict; the share that the network lost;
    and the share of elements whose result did not arrive."""
    if not rows:
        return ()
    cut = _mean_of(rows, "cut_fraction")
    return (share(cut), share(max(row["cut_fraction"] for row in rows)),
            "holds" if cut <= _CUT_BUDGET else "fails",
            share(max(_mean_of(rows, "loss_fraction") - cut, 0)),
            share(_mean_of(rows, "drift_fraction")))


def _summary(rows: Sequence[Mapping]) -> tuple[str, ...]:
    times = _pooled(rows) / 1000
    return (*(number(float(statistic(times)))
              for statistic in (_median, _mean, _slow_tenth, _p99)),
            number(_mean_of(rows, "step_mean_us") / 1000),
            number(_mean_of(rows, "step_slow_tenth_us") / 1000),
            share(_mean_of(rows, "loss_fraction")),
            number(_mean_of(rows, "cpu_s_per_gb")),
            str(sum(row["iterations"] for row in rows)), str(len(rows)))


EXPERIMENT = Experiment("goals", "Savings in the lab, and their bounds",
                        _parts, _show)
