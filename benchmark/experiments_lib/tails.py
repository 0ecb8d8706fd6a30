# SPDX-License-Identifier: Apache-2.0
"""Ring against transpose: iteration times and their tails."""
import dataclasses
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from . import in_lab
from .experiment import Claim, Experiment, Part, Results
from .pictures import Pictures, distributions

_ENVIRONMENTS = ("clean", "p1.5", "p3", "micro")
_FLOATS = 1000000
_SIZES = (4096, 65536, 262144)  # 16 KiB to 1 MiB, and _FLOATS
_LARGE = 16777216  # 64 MiB: an iteration takes seconds, and few are exact
_LARGE_EXACT_OPS = 6
_LARGE_S = {"clean": 156, "p3": 198}  # about: turns end with an iteration
_RANKS_MIN = {"p3": 3, "micro": 3}  # two others send to one
_GROUPED = "hierarchical_transpose"
_ALL = (*in_lab.EXACT, _GROUPED, *in_lab.BOUNDED)
_SLOWEST = "slowest"  # p99 or worst, as in in_lab
# The least ratio of ring's time to ours, with `none` and with `broadcast`.
# None: no goal.
_ASKED = (("clean", "p50", (0.97, 0.97)), ("p1.5", _SLOWEST, (1.2, 1.1)),
          ("p3", _SLOWEST, (2.3, None)), ("micro", "mean", (1.25, 1.2)))


def _name(environment: str, ranks: int, elements: int) -> str:
    return f"{environment}-{ranks}-ranks-{elements}-floats"


def _algorithms(ranks: int) -> tuple[str, ...]:
    """Two ranks form no groups."""
    return tuple(name for name in _ALL if ranks > 2 or name != _GROUPED)


def _parts(quick: bool) -> Sequence[Part]:
    if quick:
        return [in_lab.comparison(_name(environment, 8, _FLOATS), environment,
                                  in_lab.FEW, 6)
                for environment in ("clean", "p3")]
    parts = []
    for environment in _ENVIRONMENTS:
        parts += [in_lab.comparison(_name(environment, ranks, _FLOATS),
                                    environment, _algorithms(ranks), seconds,
                                    ranks)
                  for ranks, seconds in ((8, 12), (4, 5), (2, 5))
                  if ranks >= _RANKS_MIN.get(environment, 2)]
        parts += [in_lab.comparison(_name(environment, 8, elements),
                                    environment, _ALL, 2, 8, elements)
                  for elements in _SIZES]
    parts += [dataclasses.replace(in_lab.comparison(
        _name(environment, 8, _LARGE), environment, in_lab.FEW, 12, 8, _LARGE,
        _LARGE_EXACT_OPS), seconds=seconds)
              for environment, seconds in _LARGE_S.items()]
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


def _claims(results: Results) -> list[Claim]:
    claims = []
    for environment, what, asked in _ASKED:
        rows = results.get(_name(environment, 8, _FLOATS), ())
        called, us = (in_lab.slowest(rows) if what == _SLOWEST
                      else (what, operator.itemgetter(f"{what}_us")))
        ratios = in_lab.rings_over_its(rows, us)
        if ratios:
            claims.append(Claim(
                f"{called} of an allreduce in {environment}: "
                f"{in_lab.RING}'s over ours, 8 ranks, 4 MB", "",
                ", ".join(f"{least or 'any'} ({name})"
                          for name, least in zip(in_lab.BOUNDED, asked)),
                in_lab.told(ratios),
                all(ratio >= (least or 0)
                    for ratio, least in zip(ratios.values(), asked)),
                in_lab.WHY_NOT))
    return claims


EXPERIMENT = Experiment(
    "tails", "Ring against transpose, side by side",
    "How long does an iteration of each algorithm take, and how long its "
    "slowest, where nobody else sends (clean), at times (p1.5, p3) and all "
    "the time (micro)? Algorithms take turns of a second; times are the slowest "
    "rank's. Bursts of p3 and micro come from two hosts, and so need three; "
    "64 MiB, which take seconds, are of few algorithms and environments, and "
    f"ours are exact for {_LARGE_EXACT_OPS} iterations at first, not "
    f"{in_lab.EXACT_OPS}.",
    _parts, _tell, _claims)
