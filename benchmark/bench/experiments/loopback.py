# SPDX-License-Identifier: Apache-2.0
"""The bounded allreduce next to Gloo's four on loopback, where nothing is
late."""
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from . import figures
from .experiment import Claim, Experiment, Part, Results
from .page import Page, number, share

_DEFAULT = "optireduce"
_GLOOS = ("ring", "ring_chunked", "halving_doubling", "bcube")
_NAMES = (*_GLOOS, _DEFAULT, "optireduce:none")
_SMALL, _MIDDLE, _LARGE = 65536, 1000000, 6250000  # floats
_SIZES = {_SMALL: "256 KB", _MIDDLE: "4 MB", _LARGE: "25 MB"}
_SECONDS = 5  # of each algorithm and size in a run
# By ranks and floats: the best median of Gloo's over the default's, and its
# bound; None: not computed.
_GOALS = {4: {_SMALL: (1.9, 2.5), _MIDDLE: (1.6, None), _LARGE: (1.5, None)},
          8: {_SMALL: (2.0, None), _MIDDLE: (1.35, 1.39),
              _LARGE: (1.35, 1.39)}}


def _part(ranks: int, run: int, sizes: Sequence[int] = tuple(_SIZES)) -> Part:
    return Part(
        figures.run_name(f"{ranks}-ranks", run),
        ("benchmark/compare", "--ranks", str(ranks), "--elements",
         ",".join(map(str, sizes)), "--seconds", str(_SECONDS),
         "--algorithms", ",".join(_NAMES)),
        len(sizes) * len(_NAMES) * _SECONDS + 10)


def _parts(quick: bool) -> Sequence[Part]:
    if quick:
        return [_part(min(_GOALS), figures.RUNS[0], (_MIDDLE,))]
    return [_part(ranks, run) for run in figures.RUNS for ranks in _GOALS]


def _jobs(results: Results) -> Iterator[tuple[int, int,
                                              list[dict[str, Mapping]]]]:
    """Ranks, floats, and the rows of each run by algorithm."""
    for ranks in _GOALS:
        for floats in _SIZES:
            runs = [own for run in figures.RUNS if (own := {
                row["algorithm"]: row
                for row in results.get(_part(ranks, run).name, ())
                if row["elements"] == floats})]
            if runs:
                yield ranks, floats, runs


def _ratio(run: Mapping[str, Mapping], name: str) -> float:
    """The best median of Gloo's four over that of `name`."""
    best = min(run[other]["p50_us"] for other in _GLOOS)
    return best / run[name]["p50_us"]


def _tail(run: Mapping[str, Mapping]) -> float:
    """The default's p99 over the ring's."""
    return run[_DEFAULT]["p99_us"] / run[figures.RING]["p99_us"]


def _show(results: Results, page: Page) -> None:
    page.table(
        ("ranks", "size", f"{_DEFAULT}: p50 ms",
         "best of Gloo's p50 / its", "optireduce:none: the same",
         f"{_DEFAULT}: its p99 / {figures.RING}'s", "its missing",
         "of these cut"),
        [(str(ranks), _SIZES[floats],
          number(fmean(run[_DEFAULT]["p50_us"] for run in runs) / 1000),
          *(figures.told_range([_ratio(run, name) for run in runs])
            for name in (_DEFAULT, "optireduce:none")),
          figures.told_range([_tail(run) for run in runs]),
          *(share(max(run[_DEFAULT][key] for run in runs))
            for key in ("loss_fraction", "cut_fraction")))
         for ranks, floats, runs in _jobs(results)], words=2)


def _claims(results: Results) -> list[Claim]:
    claims, missing = [], []
    for ranks, floats, runs in _jobs(results):
        what = f"{ranks} ranks, {_SIZES[floats]}"
        goal, bound = _GOALS[ranks][floats]
        found = [_ratio(run, _DEFAULT) for run in runs]
        claims.append(Claim(
            f"Best median of Gloo's four over the default's, loopback, {what}",
            "", figures.told_goal(goal, bound), figures.told_range(found),
            fmean(found) >= goal))
        if floats == _LARGE:
            tails = [_tail(run) for run in runs]
            claims.append(Claim(
                f"p99 of the default over {figures.RING}'s, loopback, {what}",
                "", "at most 1", figures.told_range(tails),
                fmean(tails) <= 1))
        missing += [run[_DEFAULT]["loss_fraction"] for run in runs]
    if missing:
        claims.append(Claim("Missing with the default, loopback", "", "0",
                            f"at most {share(max(missing))}",
                            not any(missing)))
    return claims


EXPERIMENT = Experiment("loopback", "On loopback", _parts, _show, _claims)
