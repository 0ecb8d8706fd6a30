# SPDX-License-Identifier: Apache-2.0
"""Figures as text, tables and files."""
import json
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from front_end.columns import align, three_digits

# A heading, and the text of a row.
Column = tuple[str, Callable[[Mapping], str]]


def percentile(values: Sequence[float], share: float) -> float | None:
    """The smallest of `values` that `share` of them do not exceed; None if
    empty."""
    if not values:
        return None
    rank = math.ceil(share * len(values) - 1e-9)
    return sorted(values)[max(rank, 1) - 1]


def percentiles(values: Sequence[float]) -> list[float]:
    """The percentiles 0, 1, ... 100; empty for no values."""
    ordered = sorted(values)
    return [percentile(ordered, hundredth / 100)
            for hundredth in range(101)] if ordered else []


def mean_of_slowest(values: Sequence[float], share: float) -> float | None:
    """The mean of the largest `share` of `values`, of one at least; None if
    empty."""
    if not values:
        return None
    return statistics.fmean(
        sorted(values)[-max(1, round(share * len(values))):])


def number(value: float | None) -> str:
    """Three digits, or two of a small number; empty for None and NaN."""
    if value is None or math.isnan(value):
        return ""
    if value == 0:
        return "0"
    return f"{value:.2g}" if abs(value) < 0.1 else three_digits(value)


def fraction(value: float) -> str:
    """A loss, as a fraction of 1."""
    return "0" if value == 0 else f"{value:.2g}"


def human_bytes(count: float) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return f"{f'{count / unit:.1f}'.removesuffix('.0')} {name}"
    return f"{count} B"


def render(columns: Sequence[Column], rows: Sequence[Mapping], words: int,
           group: str = "") -> str:
    """A text table. The first `words` columns are words, the others numbers.
    A blank line stands where the field `group` changes."""
    heading, *aligned = align(
        [[heading for heading, _ in columns],
         *([text(row) for _, text in columns] for row in rows)], words)
    lines, previous = [heading], None
    for row, line in zip(rows, aligned):
        if group and row[group] != previous:
            lines.append("")
            previous = row[group]
        lines.append(line)
    return "\n".join(lines) + "\n"


def write_json(path: str, value: Any) -> None:
    """Writes `value` for --json."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1)
        file.write("\n")
