# SPDX-License-Identifier: Apache-2.0
"""Rows of many simulated ranks."""
from collections.abc import Iterable, Mapping, Sequence

from .experiment import Results

BOUNDED = "optireduce:none"
FLOATS, LARGE_FLOATS = 1000000, 6250000  # 4 MB; PyTorch's 25 MB
GBIT = 100  # of a fast link
LONG_TAIL = "3"
# How many bytes may be under way to a rank. A fast link needs more than the
# default, or all ranks wait for credit.
DEFAULT_WINDOW, LARGE_WINDOW = 2 << 20, 16 << 20
WINDOW = "window"  # the part with the default's window
BY_HAND = "by-hand"  # prefix of parts with a bound set by hand
BOUND_US = 400  # of a stage in these parts


def done(rows: Iterable[Mapping]) -> list[Mapping]:
    return [row for row in rows if row["failed"] is None]


def by_network(results: Results) -> dict[tuple[float, float, int],
                                               list[Mapping]]:
    """Rows by Gbit/s, tail and floats, including failed ones."""
    networks: dict[tuple[float, float, int], list[Mapping]] = {}
    for name, rows in results.items():
        for row in rows:
            if name.startswith("ways-"):
                networks.setdefault(
                    (row["gbit"], row["tail"], row["elements"]), []).append(row)
    return dict(sorted(networks.items()))


def of_parts(results: Results, begin: str) -> list[Mapping]:
    """The rows of all parts with this prefix, including failed ones."""
    return [row for name, rows in results.items() if name.startswith(begin)
            for row in rows]


def growths(rows: Sequence[Mapping], key: str,
            algorithm: str = BOUNDED) -> dict[int, float]:
    """The time relative to that with the fewest ranks, by ranks."""
    own = sorted((row for row in rows if row["algorithm"] == algorithm),
                 key=lambda row: row["ranks"])
    return {row["ranks"]: row[key] / own[0][key] for row in own}
