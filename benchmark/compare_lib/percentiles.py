# SPDX-License-Identifier: Apache-2.0
"""What share of samples lies below which value."""
import math
from collections.abc import Sequence


def percentile(values: Sequence[float], share: float) -> float:
    """The least of `values` that `share` of them do not exceed; NaN of none."""
    if not values:
        return math.nan
    rank = math.ceil(share * len(values) - 1e-9)
    return sorted(values)[max(rank, 1) - 1]


def percentiles(values: Sequence[float]) -> list[float]:
    """Those of 0, 1, ... 100 %; nothing of nothing."""
    ordered = sorted(values)
    return [percentile(ordered, hundredth / 100)
            for hundredth in range(101)] if ordered else []
