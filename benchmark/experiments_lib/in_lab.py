# SPDX-License-Identifier: Apache-2.0
"""Parts that are comparisons in the lab, and how their rows are told."""
from collections.abc import Iterable, Mapping, Sequence

from .experiment import Part
from .markdown import number, share, table

EXACT = ("ring", "ring_chunked", "halving_doubling", "bcube", "transpose")
BOUNDED = ("optireduce:none", "optireduce:broadcast")
RING = "ring_chunked"  # the faster of Gloo's two
FEW = (RING, "transpose", *BOUNDED)
_SETUP_S = 4   # namespaces, connections, warm-up of the processes
FOR_P99 = 100  # iterations: of fewer it is the slowest, and called so
WARMUP = 26  # iterations of a bounded algorithm before they are timed
# What is smaller than GLOO_UBT_MIN_BYTES would not be bounded.
_SMALL_BYTES = 256 << 10


def _iteration_s(elements: int) -> float:
    """At the lab's rate."""
    return 0.13 * elements / 1000000


def comparison(name: str, environment: str, algorithms: Sequence[str],
               seconds: float, ranks: int = 8,
               elements: int = 1000000) -> Part:
    """benchmark/compare, so many seconds for each algorithm."""
    return Part(
        name, ("benchmark/compare", "--lab", environment, "--ranks",
               str(ranks), "--elements", str(elements), "--seconds",
               f"{seconds:g}", "--algorithms", ",".join(algorithms)),
        _SETUP_S + len(algorithms) * seconds + WARMUP * _iteration_s(elements)
        * sum(name in BOUNDED for name in algorithms),
        {"GLOO_UBT_MIN_BYTES": "1"} if 4 * elements < _SMALL_BYTES else {})


def times(rows: Iterable[Mapping]) -> str:
    """A table of what took how long, and how much was lost."""
    rows = list(rows)
    tail = "p99" if all(row["iterations"] >= FOR_P99
                        for row in rows) else "worst"
    ring = next((row for row in rows if row["algorithm"] == RING), None)

    def of_ring(row: Mapping, key: str) -> str:
        return number(ring[key] / row[key]) if ring else ""

    return table(
        ("algorithm", "p50 ms", f"{tail} ms", f"{tail} / p50", "mean ms",
         f"{RING}'s {tail} / its", "its lost", "iterations"),
        [(row["algorithm"], number(row["p50_us"] / 1000),
          number(row["p99_us"] / 1000), number(row["p99_us"] / row["p50_us"]),
          number(row["mean_us"] / 1000), of_ring(row, "p99_us"),
          share(row["loss_fraction"]), str(row["iterations"]))
         for row in rows])
