# SPDX-License-Identifier: Apache-2.0
"""Pieces of a report's text."""
import math
from collections.abc import Iterable, Sequence

from front_end.columns import three_digits


def table(headings: Sequence[str], rows: Iterable[Sequence[str]],
          words: int = 1) -> str:
    """A table: the first `words` columns are words, the others numbers."""
    lines = [headings,
             ["---"] * words + ["--:"] * (len(headings) - words), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + "\n"


def number(value: float | None) -> str:
    """Three digits; empty for None and NaN."""
    if value is None or math.isnan(value):
        return ""
    return three_digits(value)


def share(value: float) -> str:
    """A share of 1, in per cent."""
    return "0" if value == 0 else f"{100 * value:.2g} %"
