# SPDX-License-Identifier: Apache-2.0
"""Ring against transpose: iteration times and their tails."""
import dataclasses
from collections.abc import Sequence

from .. import plot
from . import figures
from .experiment import Experiment, Part, Results
from .page import Page

_ENVIRONMENTS = ("clean", "p1.5", "p3", "micro")
_FLOATS = 1000000
_SIZES = (4096, 65536, 262144)  # 16 KiB to 1 MiB, and _FLOATS
_LARGE = 16777216  # 64 MiB: an iteration takes seconds, and few are exact
_LARGE_EXACT_OPS = 6
_LARGE_S = {"clean": 156, "p3": 198}  # about: turns end with an iteration
_RANKS_MIN = {"p3": 3, "micro": 3}  # two others send to one
_GROUPED = "hierarchical_transpose"
_ALL = (*figures.EXACT, _GROUPED, *figures.BOUNDED)


def _name(environment: str, ranks: int, elements: int) -> str:
    return f"{environment}-{ranks}-ranks-{elements}-floats"


def _parts(quick: bool) -> Sequence[Part]:
    if quick:
        return [figures.comparison(_name(environment, 8, _FLOATS), environment,
                                   figures.FEW, 6)
                for environment in ("clean", "p3")]
    parts = []
    for environment in _ENVIRONMENTS:
        for ranks, seconds in ((8, 12), (4, 5), (2, 5)):
            if ranks >= _RANKS_MIN.get(environment, 2):
                names = [name for name in _ALL  # two ranks form no groups
                         if ranks > 2 or name != _GROUPED]
                parts.append(figures.comparison(
                    _name(environment, ranks, _FLOATS), environment, names,
                    seconds, ranks))
        parts += [figures.comparison(_name(environment, 8, elements),
                                     environment, _ALL, 2, 8, elements)
                  for elements in _SIZES]
    parts += [dataclasses.replace(figures.comparison(
        _name(environment, 8, _LARGE), environment, figures.FEW, 12, 8, _LARGE,
        _LARGE_EXACT_OPS), seconds=seconds)
              for environment, seconds in _LARGE_S.items()]
    return parts


def _pictures(results: Results, page: Page) -> None:
    found = {environment: rows for environment in _ENVIRONMENTS
             if (rows := results.get(_name(environment, 8, _FLOATS)))}
    if not found:
        return
    page.picture("tails", "Share of iterations that take longer, 8 ranks, 4 MB",
                 [(environment, figures.distributions(rows))
                  for environment, rows in found.items()], columns=2)
    drawn = [name for name in figures.DRAWN
             if all(figures.of(rows, name) for rows in found.values())]
    page.picture("tails-slowest", "Longest iteration, 8 ranks, 4 MB", [
        ("", plot.bars(list(found), {
            name: [figures.of(rows, name)["percentiles_us"][-1] / 1000
                   for rows in found.values()] for name in drawn},
            "longest iteration, ms"))])


def _show(results: Results, page: Page) -> None:
    _pictures(results, page)
    for environment in _ENVIRONMENTS:
        found = [rows for name, rows in results.items()
                 if name.startswith(f"{environment}-")]
        if found:
            page.heading(environment)
        for rows in found:
            page.line(f"{rows[0]['ranks']} ranks, {rows[0]['elements']} "
                      "floats:")
            figures.times(page, rows)


EXPERIMENT = Experiment("tails", "Ring against transpose, side by side",
                        _parts, _show)
