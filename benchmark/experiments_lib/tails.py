# SPDX-License-Identifier: Apache-2.0
"""Ring against transpose: how long an iteration takes, and its tail."""
from collections.abc import Mapping, Sequence
from typing import Any

from . import in_lab
from .experiment import Experiment, Part, Results
from .pictures import Pictures, distributions

_ENVIRONMENTS = ("clean", "p1.5", "p3", "micro")
_FLOATS = 1000000
_SIZES = (4096, 65536, 262144)  # 16 KiB to 1 MiB, and _FLOATS
_LARGE = 16777216  # 64 MiB: an iteration takes seconds
_RANKS_MIN = {"p3": 3, "micro": 3}  # two others send to one
_ALL = (*in_lab.EXACT, *in_lab.BOUNDED)


def _name(environment: str, ranks: int, elements: int) -> str:
    return f"{environment}-{ranks}-ranks-{elements}-floats"


def _parts(quick: bool) -> Sequence[Part]:
    if quick:
        return [in_lab.comparison(_name(environment, 8, _FLOATS), environment,
                                  in_lab.FEW, 6)
                for environment in ("clean", "p3")]
    parts = []
    for environment in _ENVIRONMENTS:
        parts += [in_lab.comparison(_name(environment, ranks, _FLOATS),
                                    environment, _ALL, seconds, ranks)
                  for ranks, seconds in ((8, 14), (4, 6), (2, 5))
                  if ranks >= _RANKS_MIN.get(environment, 2)]
        parts += [in_lab.comparison(_name(environment, 8, elements),
                                    environment, in_lab.FEW, 3, 8, elements)
                  for elements in _SIZES]
    parts += [in_lab.comparison(_name(environment, 8, _LARGE), environment,
                                in_lab.FEW, 30, 8, _LARGE)
              for environment in ("clean", "p3")]
    return parts


def _tell(results: Results, pictures: Pictures) -> str:
    text = ""
    for environment in _ENVIRONMENTS:
        found = [rows for name, rows in results.items()
                 if name.startswith(f"{environment}-")]
        if not found:
            continue
        text += f"### {environment}\n\n"
        text += pictures.draw(
            f"tails-{environment}", f"Times of iterations in {environment}",
            [(f"{rows[0]['ranks']} ranks, {rows[0]['elements']} floats",
              distributions(rows)) for rows in found]) + "\n"
        for rows in found:
            text += (f"{rows[0]['ranks']} ranks, {rows[0]['elements']} "
                     f"floats:\n\n{in_lab.times(rows)}")
    return text


EXPERIMENT = Experiment(
    "tails", "Ring against transpose, side by side",
    "How long does an iteration of each algorithm take, and how long its "
    "slowest, where nobody else sends (clean), at times (p1.5, p3) and all "
    "the time (micro)? Algorithms take turns of a second; times are the slowest "
    "rank's.", _parts, _tell)
