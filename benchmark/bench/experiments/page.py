# SPDX-License-Identifier: Apache-2.0
"""The generated text of a page: headings, tables and pictures."""
import math
import os
from collections.abc import Iterable, Sequence

from front_end.columns import three_digits

from .. import plot
from ..table import per_cent

PICTURES = "pictures"


def number(value: float | None) -> str:
    """At least three digits; empty for None and NaN."""
    if value is None or math.isnan(value):
        return ""
    return three_digits(value)


def share(value: float) -> str:
    """A share of 1, in per cent."""
    return per_cent(value)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]],
          words: int = 1) -> str:
    """A table: the first `words` columns are words, the others numbers."""
    lines = [headings,
             ["---"] * words + ["--:"] * (len(headings) - words), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + "\n"


class Page:
    """Collects text; pictures go into a subfolder of the report."""

    def __init__(self, report: str) -> None:
        """`report`: its folder."""
        self._report = report
        self.text = ""

    def heading(self, title: str) -> None:
        self.text += f"### {title}\n\n"

    def line(self, text: str) -> None:
        """A paragraph."""
        self.text += f"{text}\n\n"

    def table(self, headings: Sequence[str], rows: Iterable[Sequence[str]],
              words: int = 1) -> None:
        """See table() above."""
        self.text += table(headings, rows, words)

    def picture(self, name: str, caption: str,
                panels: Sequence[tuple[str, plot.Paint]],
                columns: int = 3) -> None:
        """Draws panels, each with its title, `columns` in a row."""
        path = f"{PICTURES}/{name}.svg"
        os.makedirs(os.path.join(self._report, PICTURES), exist_ok=True)
        plot.draw(os.path.join(self._report, path), panels, columns=columns)
        self.line(f"![{caption}]({path})")
