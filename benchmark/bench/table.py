# SPDX-License-Identifier: Apache-2.0
"""Figures as text, tables and files."""
import dataclasses
import json
import math
import statistics
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from front_end.columns import align, three_digits

from .findings import writing
from .origin import Origin

# The p99 of fewer iterations would be their maximum.
P99_FROM = 100

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


def per_cent(share: float) -> str:
    """A share of 1, with two digits at least."""
    value = 100 * share
    return "0" if value == 0 else (
        f"{value:.2g} %" if value < 99.5 else f"{value:.0f} %")


def human_bytes(count: float) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return f"{f'{count / unit:.1f}'.removesuffix('.0')} {name}"
    return f"{count} B"


def render(columns: Sequence[Column], rows: Sequence[Mapping], words: int,
           group: str = "") -> str:
    """A text table. The first `words` columns are words, the others numbers.
    A heading takes several lines if it is wider than its column. A blank line
    stands where the field `group` changes."""
    cells = [[text(row) for _, text in columns] for row in rows]
    headings = _wrapped([heading for heading, _ in columns], cells)
    aligned = align([*headings, *cells], words)
    lines, previous = aligned[:len(headings)], None
    for row, line in zip(rows, aligned[len(headings):]):
        if group and row[group] != previous:
            lines.append("")
            previous = row[group]
        lines.append(line)
    return "\n".join(lines) + "\n"


def _wrapped(headings: Sequence[str],
             cells: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """The lines of all headings; short headings stand in the last ones."""
    wrapped = [
        textwrap.wrap(heading, max(
            map(len, [*heading.split(), *(row[number] for row in cells)])))
        for number, heading in enumerate(headings)]
    height = max(map(len, wrapped))
    return list(zip(*([""] * (height - len(own)) + own for own in wrapped)))


def write_json(path: str, value: Any) -> None:
    """Writes `value` for --json. An old file stays until the new one is whole.
    Raises UserError if it cannot."""
    with writing("--json", path) as place, open(
            place, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1)
        file.write("\n")


def write_rows(path: str, run: Origin, rows: Sequence[Mapping]) -> None:
    """The same for rows that have been shown, and their origin."""
    write_json(path, {"run": dataclasses.asdict(run), "rows": rows})
