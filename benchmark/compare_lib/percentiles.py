# SPDX-License-Identifier: Apache-2.0
"""Percentiles of samples."""
import math
from collections.abc import Sequence


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of `values` that `share` of them do not exceed; NaN if
    empty."""
    if not values:
        return math.nan
    rank = math.ceil(share * len(values) - 1e-9)
    return sorted(values)[max(rank, 1) - 1]


def percentiles(values: Sequence[float]) -> list[float]:
    """The percentiles 0, 1, ... 100; empty for no values."""
    ordered = sorted(values)
    return [percentile(ordered, hundredth / 100)
            for hundredth in range(101)] if ordered else []
