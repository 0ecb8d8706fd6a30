# SPDX-License-Identifier: Apache-2.0
"""What a training's bounded allreduces have lost."""
import contextlib
import os
import re
import statistics
import tempfile
from collections.abc import Iterator, Mapping

FOLDER = "GLOO_UBT_REPORT"  # where each rank's library leaves its counts

_COUNT = re.compile(r"gloo_ubt_pairs_(expected|missing)_total\{[^}]*\} (\d+)")


@contextlib.contextmanager
def reports() -> Iterator[str]:
    """A folder for the reports: the user's, or one that goes away again."""
    users = os.environ.get(FOLDER)
    if users:
        yield users
        return
    with tempfile.TemporaryDirectory(prefix="train-") as folder:
        yield folder


def share(folder: str, ranks: int) -> float | None:
    """Of the (contributor, element) pairs that all bounded calls were to sum,
    the share that is missing in a rank's results, 0 to 1, the mean over ranks.
    None: nothing was bounded. `folder` is that of the library's reports
    (docs/drop_in.md), of ranks that have ended."""
    counts = [_counts(os.path.join(folder, f"rank{rank}.prom"))
              for rank in range(ranks)]
    shares = [count["missing"] / count["expected"] for count in counts
              if count.get("expected")]
    return statistics.mean(shares) if shares else None


def _counts(path: str) -> Mapping[str, int]:
    """Empty where the library was not, or nothing was summed."""
    try:
        with open(path, encoding="utf-8") as file:
            return {name: int(count)
                    for name, count in _COUNT.findall(file.read())}
    except FileNotFoundError:
        return {}
