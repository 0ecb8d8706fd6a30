# SPDX-License-Identifier: Apache-2.0
"""What one job came to, and what of it counts."""
import dataclasses
from collections.abc import Callable, Sequence

from compare_lib.percentiles import percentile


@dataclasses.dataclass(frozen=True)
class Run:
    """Less is better, of all of it."""

    times_ms: Sequence[float]  # of each op, at its slowest rank
    loss: float  # share of (contributor, element) pairs that results lack
    drift: float  # share of results' elements that are filled in
    # Of results, against the exact sums, and relative to their mean square:
    mse: float  # mean squared error over ranks, elements and ops
    worst: float  # squared error of an op's worst element, mean over ops
    failed: str = ""  # why the job ended before its time, or is wrong
    broken: str = ""  # what promise the protocol broke there, and how to see it

    @property
    def p50_ms(self) -> float:
        return percentile(self.times_ms, 0.5)

    @property
    def p99_ms(self) -> float:
        return percentile(self.times_ms, 0.99)


@dataclasses.dataclass(frozen=True)
class Metric:
    name: str
    of: Callable[[Run], float]
    unit: str = ""
    # Differences of less are nothing to a user, however sure they are.
    least_share: float = 0.01
    least: float = 0


METRICS = (
    Metric("p50", lambda run: run.p50_ms, " ms"),
    Metric("p99", lambda run: run.p99_ms, " ms"),
    Metric("loss", lambda run: run.loss, least_share=0.05, least=1e-4),
    Metric("mse", lambda run: run.mse, least_share=0.05, least=1e-4),
    Metric("worst", lambda run: run.worst, least_share=0.05, least=1e-2),
    Metric("drift", lambda run: run.drift, least_share=0.05, least=1e-4),
)
