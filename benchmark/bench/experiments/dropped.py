# SPDX-License-Identifier: Apache-2.0
"""Accuracy and speed-up by the dropped share of the tail: Ultima's plots."""
from collections.abc import Mapping, Sequence

from .. import plot
from . import figures
from .experiment import Claim, Experiment, Part, Results
from .page import Page, number, share

_ALGORITHM = "optireduce:none"
_MODEL, _STEPS = "fashion", 80
_STEP_S = 0.35
_WAITS = "waits-for-all"
_HARMLESS, _WITHIN = 0.05, 0.99  # dropped; of the accuracy
_BOUNDS_MS = (200, 160, 140, 120, 110)  # of a stage, set by hand


def _part(name: str, variables: Mapping[str, str]) -> Part:
    # Also evaluated half-way: speed-ups are of the steps after that.
    return Part(name, figures.training(_MODEL, (_ALGORITHM,), _STEPS, 2,
                                       "--lab", "p3", *figures.SLOW_LINKS),
                figures.TRAINING_START_S + _STEPS * _STEP_S, variables)


def _parts(quick: bool) -> Sequence[Part]:
    return [
        _part(_WAITS, {"GLOO_UBT_EXPERIMENT": "warmup_ops:1000000"}),
        *(_part(f"bound-{ms}-ms", {
            "GLOO_UBT_BOUND": f"{ms}ms",
            "GLOO_UBT_EXPERIMENT": f"warmup_ops:{figures.EXACT_OPS}"})
          for ms in (_BOUNDS_MS[2:3] if quick else _BOUNDS_MS))]


def _dropped(run: Mapping) -> float:
    return run["lost"] or 0.0  # exact runs lose nothing


def _show(results: Results, page: Page) -> None:
    runs = {name: run for name, (run,) in results.items()}
    if _WAITS not in runs or len(runs) < 2:
        return
    waits = figures.step_ms([runs[_WAITS]])
    speedups = {name: waits / figures.step_ms([run])
                for name, run in runs.items()}
    ordered = sorted(runs, key=lambda name: _dropped(runs[name]))
    page.picture("dropped", "Accuracy and speed-up by the tail dropped", [
        (title, plot.curves(
            {_ALGORITHM: [(100 * _dropped(runs[name]), values[name])
                          for name in ordered]}, "entries dropped, %", title))
        for title, values in (
            ("accuracy", {name: run["accuracy"]
                          for name, run in runs.items()}),
            ("speed-up over waiting for all", speedups))])
    page.table(
        ("stages", "dropped", "accuracy", "speed-up", "divergence",
         "ms a step, once warm"),
        [(name.replace("-", " "), share(_dropped(run)),
          f"{100 * run['accuracy']:.2f} %", number(speedups[name]),
          f"{run['divergence']:.2g}", number(figures.step_ms([run])))
         for name, run in runs.items()])


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
        f"Accuracy with up to {share(_HARMLESS)} of entries dropped in time, "
        "of that of a training that waits for all", "",
        f"{_WITHIN} at least",
        f"least {kept[worst]:.3f} ({share(_dropped(runs[worst]))} dropped)",
        kept[worst] >= _WITHIN)]


EXPERIMENT = Experiment("dropped", "The tail dropped, in time", _parts, _show,
                        _claims)
