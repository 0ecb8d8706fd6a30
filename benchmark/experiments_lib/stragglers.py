# SPDX-License-Identifier: Apache-2.0
"""Processes that sometimes compute for longer."""
from collections.abc import Mapping, Sequence
from typing import Any

from . import in_lab, trainings
from .experiment import Claim, Experiment, Part, Results
from .markdown import number, table
from .pictures import Pictures, distributions

_ONE, _ANYONE, _TRAINING = "late-rank", "late-ranks", "training"
_PLACES = {_ONE: "straggler", _ANYONE: "varying"}  # the lab's environments
_TITLES = {_ONE: "Always the same rank (straggler)",
           _ANYONE: "Each time another rank (varying)"}
_TRAINED = ("ring", *in_lab.BOUNDED)
_MODEL, _STEPS, _STEP_S = "fashion", 120, 0.25
_ASKED = 2  # ring's p99 over ours
_WHY = """\
what its slowest iterations waited for was not looked into."""


def _parts(quick: bool) -> Sequence[Part]:
    seconds = 6 if quick else 25
    parts = [in_lab.comparison(name, environment, in_lab.FEW, seconds)
             for name, environment in _PLACES.items()]
    if not quick:
        parts.append(Part(_TRAINING, trainings.command(
            _MODEL, _TRAINED, _STEPS, 4, "--lab", _PLACES[_ANYONE],
            *trainings.SLOW_LINKS),
            len(_TRAINED) * (trainings.START_S + _STEPS * _STEP_S)))
    return parts


def _trained(runs: Sequence[Mapping]) -> str:
    ring = trainings.step_ms(runs[:1])
    return ("### A training, each time another rank (varying)\n\n" + table(
        ("algorithm", "ms a step, once warm", "ring's / its", "accuracy",
         "its lost"),
        [(run["algorithm"], number(trainings.step_ms([run])),
          number(ring / trainings.step_ms([run])),
          f"{100 * run['accuracy']:.2f} %", trainings.lost_of([run]))
         for run in runs]))


def _tell(results: Results, pictures: Pictures) -> str:
    text = ""
    for name, title in _TITLES.items():
        if name in results:
            rows = results[name]
            text += (f"### {title}\n\n"
                     + pictures.draw(f"stragglers-{name}", title,
                                     [("8 ranks", distributions(rows))])
                     + "\n" + in_lab.times(rows))
    return text + (_trained(results[_TRAINING])
                   if _TRAINING in results else "")


def _claims(results: Results) -> list[Claim]:
    claims = []
    for name, environment in _PLACES.items():
        rows = results.get(name, ())
        slowest, us = in_lab.slowest(rows)
        ratios = in_lab.rings_over_its(rows, us)
        if ratios:
            claims.append(Claim(
                f"{slowest} of an allreduce in {environment}: {in_lab.RING}'s over "
                "ours, 8 ranks, 4 MB", "", f"{_ASKED} with each policy",
                in_lab.told(ratios), min(ratios.values()) >= _ASKED, _WHY))
    return claims


EXPERIMENT = Experiment(
    "stragglers", "Processes that straggle",
    "In one of ten iterations one rank computes 300 ms longer: always the same "
    "one, or each time another. How long do the other ranks take for theirs? "
    f"And steps of a training ({_MODEL}, 4 hosts at 200 Mbit/s, rank 0's, which "
    "is never late)?",
    _parts, _tell, _claims)
