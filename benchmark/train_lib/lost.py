# SPDX-License-Identifier: Apache-2.0
"""The share that a training's bounded allreduces have lost."""
import contextlib
import os
import re
import statistics
import tempfile
from collections.abc import Iterator, Mapping

FOLDER = "GLOO_UBT_REPORT"  # folder for the counts of each rank's library

_COUNT = re.compile(r"gloo_ubt_pairs_(expected|missing)_total\{[^}]*\} (\d+)")


@contextlib.contextmanager
def reports() -> Iterator[str]:
    """A folder for the reports: the user's, or a temporary one."""
    users = os.environ.get(FOLDER)
    if users:
        yield users
        return
    with tempfile.TemporaryDirectory(prefix="train-") as folder:
        yield folder


def share(folder: str, ranks: int) -> float | None:
    """The missing share, 0 to 1, of the (contributor, element) pairs that all
    bounded calls were to sum: the mean over ranks. None: nothing was bounded.
    `folder` has the library's reports (docs/drop_in.md) of ranks that have
    ended."""
    counts = [_counts(os.path.join(folder, f"rank{rank}.prom"))
              for rank in range(ranks)]
    shares = [count["missing"] / count["expected"] for count in counts
              if count.get("expected")]
    return statistics.mean(shares) if shares else None


def _counts(path: str) -> Mapping[str, int]:
    """Empty if the library was not loaded, or nothing was summed."""
    try:
        with open(path, encoding="utf-8") as file:
            return {name: int(count)
                    for name, count in _COUNT.findall(file.read())}
    except FileNotFoundError:
        return {}
