# SPDX-License-Identifier: Apache-2.0
"""Parts that several experiments have, and what they show of the results of
benchmark/compare and benchmark/train."""
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

from .. import plot
from ..lab.accounts import check, is_disturbed
from ..lab.environments import ENVIRONMENTS
from ..lab.settings import Links, Settings
from ..simulator import WARMUP_OPS
from .experiment import Part, Results
from .page import Page, number, share

EXACT = ("ring", "ring_chunked", "halving_doubling", "bcube", "transpose")
BOUNDED = ("optireduce:none", "optireduce:broadcast")
RING = "ring_chunked"  # the faster of Gloo's two rings
FEW = (RING, "transpose", *BOUNDED)
DRAWN = (RING, "halving_doubling", "transpose", *BOUNDED)
FOR_P99 = 100  # iterations; with fewer it is the slowest, and called so
EXACT_OPS = WARMUP_OPS  # first ops of a bounded algorithm, by default
WARMUP_MORE = 6  # iterations after these, before timing
_SETUP_S = 3  # namespaces, connections, warm-up of the processes
# Smaller buckets than GLOO_UBT_MIN_BYTES would not be bounded.
_SMALL_BYTES = 256 << 10

# Of a comparison that is measured several times, seeded by the run's number.
RUNS = range(1, 4)
RUN_S, QUICK_RUN_S = 17, 5  # of each algorithm in a run

# About, of a training: its processes and data, a step, an evaluation.
_START_S, _STEP_S, _EVALUATION_S = 5, 0.28, 0.6
# In the lab: links that are slow enough for steps to wait for them, not for
# the CPUs that all hosts share.
SLOW_LINKS = ("--ranks", "4", "--lab-rate", "200")
_EPOCHS = 9  # more than any run needs: steps end them


def comparison(name: str, environment: str, algorithms: Sequence[str],
               seconds: float, ranks: int = 8, elements: int = 1000000,
               exact_ops: int = EXACT_OPS, seed: int | None = None) -> Part:
    """benchmark/compare, with this many seconds for each algorithm."""
    variables = {}
    if 4 * elements < _SMALL_BYTES:
        variables["GLOO_UBT_MIN_BYTES"] = "1"
    if exact_ops != EXACT_OPS:
        variables["GLOO_UBT_EXPERIMENT"] = f"warmup_ops:{exact_ops}"
    iteration_s = 0.13 * elements / 1000000  # at the lab's link rate
    return Part(
        name, ("benchmark/compare", "--lab", environment, "--ranks",
               str(ranks), "--elements", str(elements), "--seconds",
               f"{seconds:g}", "--algorithms", ",".join(algorithms),
               *(() if seed is None else ("--lab-seed", str(seed)))),
        _SETUP_S + len(algorithms) * seconds
        + (exact_ops + WARMUP_MORE) * iteration_s
        * sum("optireduce" in name for name in algorithms), variables)


def told_goal(goal: float, bound: float | None) -> str:
    """`bound`: no algorithm can reach more; None: not computed."""
    return str(goal) if bound is None else f"{goal} (bound {bound})"


def of(rows: Iterable[Mapping], algorithm: str) -> Mapping | None:
    """The first row of that algorithm, or None."""
    return next((row for row in rows if row["algorithm"] == algorithm), None)


def disturbed(rows: Iterable[Mapping]) -> bool:
    """Whether other programs disturbed the run."""
    return any(map(is_disturbed, rows))


def undisturbed(results: Results, names: Iterable[str],
                algorithm: str) -> list[Mapping]:
    """The algorithm's rows of these parts, without those of runs that other
    programs disturbed."""
    return [row for name in names if (rows := results.get(name))
            and not disturbed(rows)
            and (row := of(rows, algorithm))]


def run_name(name: str, run: int) -> str:
    return f"{name}-run-{run}"


def of_runs(results: Results, name: str, algorithm: str) -> list[Mapping]:
    """The algorithm's rows of the undisturbed RUNS."""
    return undisturbed(results, (run_name(name, run) for run in RUNS),
                       algorithm)


def mean(rows: Iterable[Mapping], of_row: Callable[[Mapping], float]) -> float:
    return statistics.fmean(map(of_row, rows))


def told_range(values: Sequence[float]) -> str:
    """The mean, the least and the greatest."""
    return (f"{statistics.fmean(values):.3f} ({min(values):.3f} to "
            f"{max(values):.3f})")


def have_p99(rows: Iterable[Mapping]) -> bool:
    """Whether all rows have enough iterations for a p99."""
    return all(row["iterations"] >= FOR_P99 for row in rows)


def slowest(rows: Iterable[Mapping]) -> tuple[str, Callable[[Mapping], float]]:
    """The name of the slowest iterations' metric, equal for all rows, and a
    function that returns it, in us."""
    if have_p99(rows):
        return "p99", lambda row: row["p99_us"]
    return "worst", lambda row: row["percentiles_us"][-1]


def rings_over_its(rows: Sequence[Mapping],
                   us: Callable[[Mapping], float]) -> dict[str, float]:
    """Ring's time over its own, for each bounded algorithm. Empty unless all
    were measured."""
    ring, *bounded = (of(rows, name) for name in (RING, *BOUNDED))
    return {row["algorithm"]: us(ring) / us(row) for row in bounded} if (
        ring and all(bounded)) else {}


def told(ratios: Mapping[str, float]) -> str:
    """rings_over_its() as text."""
    return ", ".join(f"{ratio:.3f} ({name})"
                     for name, ratio in ratios.items())


def distributions(rows: Iterable[Mapping]) -> plot.Paint:
    """Tails of at most five algorithms, by their percentiles."""
    return plot.tails({
        row["algorithm"]: [us / 1000 for us in row["percentiles_us"]]
        for row in rows if row["algorithm"] in DRAWN})


def times(page: Page, rows: Iterable[Mapping]) -> None:
    """A table of times and losses, and a warning if the environment did not
    behave as its name says."""
    rows = list(rows)
    tail, tail_us = slowest(rows)
    ring = of(rows, RING)
    page.table(
        ("algorithm", "p50 ms", f"{tail} ms", f"{tail} / p50", "mean ms",
         f"{RING}'s {tail} / its", "its missing", "iterations"),
        [(row["algorithm"], number(row["p50_us"] / 1000),
          number(tail_us(row) / 1000), number(tail_us(row) / row["p50_us"]),
          number(row["mean_us"] / 1000),
          number(tail_us(ring) / tail_us(row)) if ring else "",
          share(row["loss_fraction"]), str(row["iterations"]))
         for row in rows])
    row = rows[0]
    name = row.get("lab_environment")
    checked = name in ENVIRONMENTS and check(
        Settings(ENVIRONMENTS[name], row["ranks"], row["lab_seed"],
                 Links(rate_mbit=row["lab_rate_mbit"])), rows)
    if checked and checked.warning:
        page.line(f"Warning: {checked.warning}.")


def training(name: str, model: str, algorithms: Sequence[str], steps: int,
             evaluations: int, *more: str, seeds: int = 1,
             variables: Mapping[str, str] | None = None) -> Part:
    """benchmark/train, with this many evaluations, the last one at the end."""
    runs = len(algorithms) * seeds
    return Part(
        name, ("benchmark/train", "--model", model, "--algorithms",
               ",".join(algorithms), "--steps", str(steps), "--epochs",
               str(_EPOCHS), "--evaluate-every", str(steps // evaluations),
               *more),
        runs * (_START_S + steps * _STEP_S + evaluations * _EVALUATION_S),
        variables or {})


def runs_of(runs: Sequence[Mapping], algorithm: str) -> list[Mapping]:
    return [run for run in runs if run["algorithm"] == algorithm]


def step_ms(runs: Iterable[Mapping]) -> float:
    """The mean over runs, starting at the first evaluation after the exact
    steps. NaN without two such evaluations."""
    found = []
    for run in runs:
        warm = [point for point in run["accuracies"]
                if point["step"] > EXACT_OPS]
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
