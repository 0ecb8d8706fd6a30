# SPDX-License-Identifier: Apache-2.0
"""Processes that sometimes compute for longer."""
from collections.abc import Sequence

from . import figures
from .experiment import Claim, Experiment, Part, Results
from .page import Page, number

_ONE, _ANYONE, _TRAINING = "late-rank", "late-ranks", "training"
_PLACES = {_ONE: "straggler", _ANYONE: "varying"}  # the lab's environments
_TITLES = {_ONE: "Always the same rank (straggler)",
           _ANYONE: "Each time another rank (varying)"}
_TRAINED = ("ring", *figures.BOUNDED)
_GOAL = 2  # ring's p99 over ours


def _parts(quick: bool) -> Sequence[Part]:
    seconds = 6 if quick else 25
    parts = [figures.comparison(name, environment, figures.FEW, seconds)
             for name, environment in _PLACES.items()]
    if not quick:
        parts.append(figures.training(
            _TRAINING, "fashion", _TRAINED, 120, 4, "--lab", _PLACES[_ANYONE],
            *figures.SLOW_LINKS))
    return parts


def _show(results: Results, page: Page) -> None:
    found = {name: results[name] for name in _TITLES if name in results}
    if found:
        page.picture("stragglers", "Share of iterations that take longer", [
            (_TITLES[name], figures.distributions(rows))
            for name, rows in found.items()])
    for name, rows in found.items():
        page.heading(_TITLES[name])
        figures.times(page, rows)
    if _TRAINING in results:
        runs = results[_TRAINING]
        ring = figures.step_ms(runs[:1])
        page.heading("A training, each time another rank (varying)")
        page.table(
            ("algorithm", "ms a step, once warm", "ring's / its", "accuracy",
             "its missing"),
            [(run["algorithm"], number(figures.step_ms([run])),
              number(ring / figures.step_ms([run])),
              f"{100 * run['accuracy']:.2f} %", figures.lost_of([run]))
             for run in runs])


def _claims(results: Results) -> list[Claim]:
    claims = []
    for name, environment in _PLACES.items():
        rows = results.get(name, ())
        slowest, us = figures.slowest(rows)
        ratios = figures.rings_over_its(rows, us)
        if ratios:
            claims.append(Claim(
                f"{slowest} of an allreduce in {environment}: "
                f"{figures.RING}'s over ours, 8 ranks, 4 MB", "",
                f"{_GOAL} with each policy", figures.told(ratios),
                min(ratios.values()) >= _GOAL))
    return claims


EXPERIMENT = Experiment("stragglers", "Processes that straggle", _parts, _show,
                        _claims)
