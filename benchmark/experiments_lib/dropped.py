# SPDX-License-Identifier: Apache-2.0
"""Accuracy and speed-up by the dropped share of the tail: Ultima's plots."""
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import trainings
from .experiment import Claim, Experiment, Part, Results
from .markdown import number, share, table
from .pictures import Pictures, colour

_ALGORITHM = "optireduce:none"
_MODEL, _STEPS = "fashion", 80
_STEP_S = 0.35
_WAITS = "waits-for-all"
_HARMLESS, _WITHIN = 0.05, 0.99  # dropped; of the accuracy
_BOUNDS_MS = (200, 160, 140, 120, 110)  # of a stage, set by hand


def _part(name: str, variables: Mapping[str, str]) -> Part:
    # Also evaluated half-way: speed-ups are of the steps after that.
    return Part(name, trainings.command(_MODEL, (_ALGORITHM,), _STEPS, 2,
                                        "--lab", "p3", *trainings.SLOW_LINKS),
                trainings.START_S + _STEPS * _STEP_S, variables)


def _bounded(ms: int) -> Part:
    return _part(f"bound-{ms}-ms", {
        "GLOO_UBT_BOUND": f"{ms}ms",
        "GLOO_UBT_WARMUP_OPS": str(trainings.EXACT_STEPS)})


def _parts(quick: bool) -> Sequence[Part]:
    bounds = _BOUNDS_MS[2:3] if quick else _BOUNDS_MS
    return [_part(_WAITS, {"GLOO_UBT_WARMUP_OPS": "1000000"}),
            *map(_bounded, bounds)]


def _dropped(run: Mapping) -> float:
    return run["lost"] or 0.0  # exact runs lose nothing


def _curve(runs: Sequence[Mapping], value: Callable[[Mapping], float],
           ordinate: str) -> Callable[[Any], None]:
    ordered = sorted(runs, key=_dropped)

    def paint(axis: Any) -> None:
        axis.plot([100 * _dropped(run) for run in ordered],
                  [value(run) for run in ordered], marker=".",
                  label=_ALGORITHM, color=colour(_ALGORITHM))
        axis.set_xlabel("entries dropped, %")
        axis.set_ylabel(ordinate)
    return paint


def _tell(results: Results, pictures: Pictures) -> str:
    runs = {name: run for name, (run,) in results.items()}
    if _WAITS not in runs or len(runs) < 2:
        return ""
    waits = trainings.step_ms([runs[_WAITS]])

    def speedup(run: Mapping) -> float:
        return waits / trainings.step_ms([run])

    return (
        pictures.draw("dropped", "Accuracy and speed-up by the tail dropped", [
            ("accuracy", _curve(list(runs.values()),
                                lambda run: run["accuracy"], "accuracy")),
            ("speed-up", _curve(list(runs.values()), speedup,
                                "steps a second, of those that wait"))])
        + "\n" + table(
            ("stages", "dropped", "accuracy", "speed-up", "divergence",
             "ms a step, once warm"),
            [(name.replace("-", " "), share(_dropped(run)),
              f"{100 * run['accuracy']:.2f} %", number(speedup(run)),
              f"{run['divergence']:.2g}", number(trainings.step_ms([run])))
             for name, run in runs.items()]))


def _claims(results: Results) -> list[Claim]:
    runs = {name: run for name, (run,) in results.items()}
    if _WAITS not in runs:
        return []
    kept = {name: run["accuracy"] / runs[_WAITS]["accuracy"]
            for name, run in runs.items()
            if name != _WAITS and _dropped(run) <= _HARMLESS}
    if not kept:
        return []
    worst = min(kept, key=kept.__getitem__)
    return [Claim(
        f"Accuracy with up to {share(_HARMLESS)} of entries dropped in time, of "
        "that of a training that waits for all", "", f"{_WITHIN} at least",
        f"{kept[worst]:.3f} at worst ({share(_dropped(runs[worst]))} dropped)",
        kept[worst] >= _WITHIN,
        "it has one seed: what of it is chance was not measured.")]


EXPERIMENT = Experiment(
    "dropped", "The tail dropped, in time",
    f"What does a training gain, and lose, by what is dropped? {_ALGORITHM} "
    "ends stages at a bound set by hand, which drops what is in the tail; once "
    "it waits for all. fashion, in `p3`'s bursts, 4 hosts at 200 Mbit/s, one "
    f"seed; the first {trainings.EXACT_STEPS} of {_STEPS} steps are exact, and "
    "the speed-up is that of the second half of them.",
    _parts, _tell, _claims)
