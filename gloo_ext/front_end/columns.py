# SPDX-License-Identifier: Apache-2.0
"""Text tables."""
from collections.abc import Sequence


def three_digits(value: float | None) -> str:
    """At least three significant digits; blank for None."""
    if value is None:
        return ""
    for limit, digits in ((10, 3), (100, 2), (1000, 1)):
        if abs(value) < limit:
            return f"{value:.{digits}f}"
    return f"{value:.0f}"


def align(lines: Sequence[Sequence[str]], words: int) -> list[str]:
    """Formats rows of cells as lines of text with aligned columns.

    The first `words` columns contain words, the others numbers.
    """
    widths = [max(map(len, column)) for column in zip(*lines)]
    return ["  ".join(
        cell.ljust(width) if i < words else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(line, widths))).rstrip()
        for line in lines]
