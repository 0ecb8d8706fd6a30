# SPDX-License-Identifier: Apache-2.0
"""Parts that are comparisons in the lab, and tables of their rows."""
from collections.abc import Callable, Iterable, Mapping, Sequence

from compare_lib.in_lab import check
from lab_lib.environments import ENVIRONMENTS
from lab_lib.settings import Links, Settings
from simulate_lib.simulator import WARMUP_OPS

from .experiment import Part
from .markdown import number, share, table

EXACT = ("ring", "ring_chunked", "halving_doubling", "bcube", "transpose")
BOUNDED = ("optireduce:none", "optireduce:broadcast")
RING = "ring_chunked"  # the faster of Gloo's two rings
FEW = (RING, "transpose", *BOUNDED)
_SETUP_S = 3  # namespaces, connections, warm-up of the processes
FOR_P99 = 100  # iterations; with fewer it is the slowest, and called so
EXACT_OPS = WARMUP_OPS  # first ops of a bounded algorithm, by default
WARMUP_MORE = 6  # iterations after these, before timing
WHY_NOT = """\
docs/tail.md explains the known causes."""
# Smaller buckets than GLOO_UBT_MIN_BYTES would not be bounded.
_SMALL_BYTES = 256 << 10


def _iteration_s(elements: int) -> float:
    """At the lab's link rate."""
    return 0.13 * elements / 1000000


def comparison(name: str, environment: str, algorithms: Sequence[str],
               seconds: float, ranks: int = 8, elements: int = 1000000,
               exact_ops: int = EXACT_OPS) -> Part:
    """benchmark/compare, with this many seconds for each algorithm."""
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
    """The first row of that algorithm, or None."""
    return next((row for row in rows if row["algorithm"] == algorithm), None)


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
    """rings_over_its() in words."""
    return ", ".join(f"{ratio:.3f} ({name})"
                     for name, ratio in ratios.items())


def _warning(rows: Sequence[Mapping]) -> str:
    """A warning, if the environment did not behave as its name says."""
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
    """A table of times and losses."""
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
