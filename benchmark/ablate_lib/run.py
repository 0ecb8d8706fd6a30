# SPDX-License-Identifier: Apache-2.0
"""The measurements of one job, and the metrics that are judged."""
import dataclasses
from collections.abc import Callable, Sequence

from compare_lib.percentiles import percentile


@dataclasses.dataclass(frozen=True)
class Run:
    """The measurements of one job. Lower is better for all of them."""

    times_ms: Sequence[float]  # of each op at its slowest rank
    loss: float  # missing share of (contributor, element) pairs
    drift: float  # share of results' elements that were filled in
    # Errors of results against exact sums, relative to the sums' mean square:
    mse: float  # mean squared error over ranks, elements and ops
    worst: float  # squared error of an op's worst element, mean over ops
    failed: str = ""  # why the job ended early or has wrong results
    broken: str = ""  # the broken promise, and how to reproduce it

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
    # A smaller difference does not matter to a user, even if it is certain.
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
