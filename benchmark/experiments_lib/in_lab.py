# SPDX-License-Identifier: Apache-2.0
"""Parts that are comparisons in the lab, and how their rows are told."""
from collections.abc import Callable, Iterable, Mapping, Sequence

from compare_lib.in_lab import check
from lab_lib.environments import ENVIRONMENTS
from lab_lib.settings import Links, Settings
from simulate_lib.simulator import WARMUP_OPS

from .experiment import Part
from .markdown import number, share, table

EXACT = ("ring", "ring_chunked", "halving_doubling", "bcube", "transpose")
BOUNDED = ("optireduce:none", "optireduce:broadcast")
RING = "ring_chunked"  # the faster of Gloo's two
FEW = (RING, "transpose", *BOUNDED)
_SETUP_S = 3   # namespaces, connections, warm-up of the processes
FOR_P99 = 100  # iterations: of fewer it is the slowest, and called so
EXACT_OPS = WARMUP_OPS  # of a bounded algorithm, at first, by default
WARMUP_MORE = 6  # iterations of it, after these, before they are timed
WHY_NOT = """\
docs/tail.md says why, as far as it is known."""
# What is smaller than GLOO_UBT_MIN_BYTES would not be bounded.
_SMALL_BYTES = 256 << 10


def _iteration_s(elements: int) -> float:
    """At the lab's rate."""
    return 0.13 * elements / 1000000


def comparison(name: str, environment: str, algorithms: Sequence[str],
               seconds: float, ranks: int = 8, elements: int = 1000000,
               exact_ops: int = EXACT_OPS) -> Part:
    """benchmark/compare, so many seconds for each algorithm."""
    variables = {}
    if 4 * elements < _SMALL_BYTES:
        variables["GLOO_UBT_MIN_BYTES"] = "1"
    if exact_ops != EXACT_OPS:
        variables["GLOO_UBT_WARMUP_OPS"] = str(exact_ops)
    return Part(
        name, ("benchmark/compare", "--lab", environment, "--ranks",
               str(ranks), "--elements", str(elements), "--seconds",
               f"{seconds:g}", "--algorithms", ",".join(algorithms)),
        _SETUP_S + len(algorithms) * seconds
        + (exact_ops + WARMUP_MORE) * _iteration_s(elements)
        * sum(name in BOUNDED for name in algorithms), variables)


def of(rows: Iterable[Mapping], algorithm: str) -> Mapping | None:
    """The first such row; None: there is none."""
    return next((row for row in rows if row["algorithm"] == algorithm), None)


def have_p99(rows: Iterable[Mapping]) -> bool:
    """Whether all have as many iterations as that takes."""
    return all(row["iterations"] >= FOR_P99 for row in rows)


def slowest(rows: Iterable[Mapping]) -> tuple[str, Callable[[Mapping], float]]:
    """What the slowest iterations that count are called, the same for all
    rows, and how long they take, in us."""
    if have_p99(rows):
        return "p99", lambda row: row["p99_us"]
    return "worst", lambda row: row["percentiles_us"][-1]


def rings_over_its(rows: Sequence[Mapping],
                   us: Callable[[Mapping], float]) -> dict[str, float]:
    """By bounded algorithm; empty where not all were measured."""
    ring, *bounded = (of(rows, name) for name in (RING, *BOUNDED))
    return {row["algorithm"]: us(ring) / us(row) for row in bounded} if (
        ring and all(bounded)) else {}


def told(ratios: Mapping[str, float]) -> str:
    """What rings_over_its() says, in words."""
    return ", ".join(f"{ratio:.3f} ({name})"
                     for name, ratio in ratios.items())


def _warning(rows: Sequence[Mapping]) -> str:
    """Whether the environment was what its name says."""
    row = rows[0]
    name = row.get("lab_environment")
    if name is None:
        return ""
    checked = check(Settings(ENVIRONMENTS[name], row["ranks"],
                             row["lab_seed"],
                             Links(rate_mbit=row["lab_rate_mbit"])), rows)
    return (f"Mind: {checked.warning}.\n\n"
            if checked and checked.warning else "")


def times(rows: Iterable[Mapping]) -> str:
    """A table of what took how long, and how much was lost."""
    rows = list(rows)
    tail, tail_us = slowest(rows)
    ring = of(rows, RING)
    return table(
        ("algorithm", "p50 ms", f"{tail} ms", f"{tail} / p50", "mean ms",
         f"{RING}'s {tail} / its", "its lost", "iterations"),
        [(row["algorithm"], number(row["p50_us"] / 1000),
          number(tail_us(row) / 1000), number(tail_us(row) / row["p50_us"]),
          number(row["mean_us"] / 1000),
          number(tail_us(ring) / tail_us(row)) if ring else "",
          share(row["loss_fraction"]), str(row["iterations"]))
         for row in rows]) + _warning(rows)
