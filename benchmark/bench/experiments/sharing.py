# SPDX-License-Identifier: Apache-2.0
"""How the bounded allreduce shares the lab's links with TCP and with other
jobs."""
from collections.abc import Callable, Mapping, Sequence

from . import figures
from .experiment import Claim, Experiment, Part, Results
from .page import Page, number

_OURS = ("optireduce", "optireduce:none")
# These loops make room for others. The simulator has no TCP.
_WITHOUT = tuple(f"optireduce+without={loop}" for loop in ("queue", "traffic"))
_RING = figures.RING
# By the name of a part: the environment, and the second job's algorithm.
_PLACES = {"tcp-flow": ("mixed", None), "ring": ("clean", _RING),
           "optireduce": ("clean", "optireduce")}
_TITLES = {"tcp-flow": "A TCP flow to one host",
           "ring": f"A second job: {_RING}",
           "optireduce": "A second job: optireduce"}
_LEAST = 0.4  # of the link, of each
_EQUAL = 1.2  # two jobs of ours: the larger share over the smaller


def _pair(place: str, algorithm: str) -> str:
    """The name of its parts, without their run. Next to a second job each
    algorithm has a run of its own: both jobs adapt to each other for longer
    than a turn takes."""
    name = algorithm.replace("_", "-").replace(":", "-")
    return f"{place}-{name}" if _PLACES[place][1] else place


def _runs_of(place: str) -> Sequence[Sequence[str]]:
    """The algorithms of each run there."""
    if _PLACES[place][1]:
        return [(name,) for name in (_RING, *_OURS)]
    return [(_RING, *_OURS, *_WITHOUT)]


def _part(place: str, algorithms: Sequence[str], run: int,
          seconds: float = figures.RUN_S) -> Part:
    environment, second = _PLACES[place]
    part = figures.comparison(
        figures.run_name(_pair(place, algorithms[0]), run), environment,
        algorithms, seconds, seed=run)
    more = ("--lab-second", second) if second else ()
    return Part(part.name, (*part.command, *more), part.seconds + 5,
                part.variables)


def _parts(quick: bool) -> Sequence[Part]:
    if quick:
        return [_part("optireduce", ("optireduce",), figures.RUNS[0],
                      figures.QUICK_RUN_S)]
    return [_part(place, algorithms, run) for run in figures.RUNS
            for place in _PLACES for algorithms in _runs_of(place)]


def _own_share(row: Mapping) -> float:
    """Of each link, without headers and repairs."""
    bits = 16 * (row["ranks"] - 1) / row["ranks"] * row["bytes"]
    return bits / row["step_mean_us"] / row["lab_rate_mbit"]


def _others_share(row: Mapping) -> float:
    """Of the flow's link, or of each link."""
    other = (row["second_mbit"] if row["second_mbit"] is not None
             else sum(row["flow_mbit"]))
    return other / row["lab_rate_mbit"]


def _mean(results: Results, place: str, algorithm: str,
          of: Callable[[Mapping], float]) -> float | None:
    """Over all runs; None: not measured."""
    rows = figures.of_runs(results, _pair(place, algorithm), algorithm)
    return figures.mean(rows, of) if rows else None


def _show(results: Results, page: Page) -> None:
    for place, title in _TITLES.items():
        rows = [(name, number(own), number(_mean(
            results, place, name, _others_share)), number(_mean(
                results, place, name, lambda row: row["p50_us"] / 1000)))
                for name in (_RING, *_OURS, *_WITHOUT)
                if (own := _mean(results, place, name, _own_share))]
        if rows:
            page.heading(title)
            page.table(("algorithm", "its share", "the other's", "p50 ms"),
                       rows)


def _claims(results: Results) -> list[Claim]:
    claims = []
    for place, what, whose in (
            ("tcp-flow", "Share of its link that a TCP flow keeps",
             (_others_share,)),
            ("ring", f"Shares of the default and of {_RING} next to it",
             (_own_share, _others_share))):
        shares = [_mean(results, place, "optireduce", of) for of in whose]
        if None not in shares:
            claims.append(Claim(
                what, "", f"at least {_LEAST}"
                + (" each" if len(shares) > 1 else ""),
                ", ".join(map(number, shares)), min(shares) >= _LEAST))
    own, other = (_mean(results, "optireduce", "optireduce", of)
                  for of in (_own_share, _others_share))
    if own and other:
        ratio = max(own, other) / min(own, other)
        claims.append(Claim(
            "Shares of two jobs of ours, the larger over the smaller", "",
            f"at most {_EQUAL}", f"{ratio:.3f}", ratio <= _EQUAL))
    return claims


EXPERIMENT = Experiment("sharing", "How links are shared", _parts, _show,
                        _claims)
