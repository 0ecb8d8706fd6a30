# SPDX-License-Identifier: Apache-2.0
"""The loss that a training tolerates, by place of the loss, repair policy,
transform and model size (OptiReduce, section 3.3; Ultima's plots)."""
import statistics
from collections.abc import Iterable, Mapping, Sequence

from .. import plot
from . import figures
from .experiment import Claim, Experiment, Part, Results
from .page import Page, number, share

_RANDOM, _TAIL = "random", "tail"
# The repair policies.
_NOTHING, _RESULTS, _ALL_OF_IT = "none", "broadcast", "both"
_KINDS = {  # of forced loss; item of GLOO_UBT_FAULT, repair policies
    _RANDOM: ("loss", (_NOTHING, _RESULTS, _ALL_OF_IT)),
    _TAIL: ("tail", (_NOTHING, _RESULTS)),
}
_PERCENTS = (0, 1, 2, 5, 10, 20)
_TRANSFORMED = "transformed"
_TRANSFORMS = {"plain": "off", _TRANSFORMED: "on"}  # GLOO_UBT_HADAMARD
_MODEL = "fashion"
_SIZES = ("bible-small", "bible", "bible-large")
_SIZES_PERCENTS = (0, 5, 20)
_SIZES_POLICY = _NOTHING
_WITHIN = 0.99  # of the accuracy without loss: harmless
_HOPED = 5  # per cent of loss
# Datagrams have a network's size, not loopback's, and a job continues at any
# loss.
_COMMON = {"GLOO_UBT_MTU": "1500", "GLOO_UBT_HALT_LOSS": "0"}
_STEP_S = {"fashion": 0.17, "bible-small": 0.11, "bible": 0.21,
           "bible-large": 0.42}  # about

Point = tuple[int, Mapping]  # per cent of forced loss, the run
Curves = Mapping[str, Sequence[Point]]  # by label


def _policies(kind: str, transform: str) -> list[str]:
    """If everything is repaired, a transform has no loss to spread."""
    return [policy for policy in _KINDS[kind][1]
            if not (policy == _ALL_OF_IT and transform == _TRANSFORMED)]


def _training(name: str, model: str, policies: Iterable[str], steps: int,
              variables: Mapping[str, str]) -> Part:
    algorithms = [f"optireduce:{policy}" for policy in policies]
    return Part(
        name, figures.training(model, algorithms, steps, 1),
        len(algorithms) * (figures.TRAINING_START_S + steps * _STEP_S[model]),
        variables)


def _fault(item: str, percent: int) -> dict[str, str]:
    return {"GLOO_UBT_FAULT": f"{item}:{percent / 100:g},seed:1"} if (
        percent) else {}


def _name(kind: str, percent: int, transform: str) -> str:
    """Without loss the kind does not matter."""
    return f"{kind if percent else _RANDOM}-{percent}-{transform}"


def _forced(kind: str, percent: int, transform: str, policies: Iterable[str],
            steps: int) -> Part:
    return _training(
        _name(kind, percent, transform), _MODEL, policies, steps,
        {**_COMMON, "GLOO_UBT_HADAMARD": _TRANSFORMS[transform],
         **_fault(_KINDS[kind][0], percent)})


def _parts(quick: bool) -> Sequence[Part]:
    if quick:
        return [_forced(kind, percent, "plain", ("none",), 40)
                for kind, percent in ((_RANDOM, 0), (_RANDOM, 10),
                                      (_TAIL, 10))]
    forced = {part.name: part for part in (
        _forced(kind, percent, transform, _policies(kind, transform), 60)
        for kind in _KINDS
        for percent in _PERCENTS if percent or kind == _RANDOM
        for transform in _TRANSFORMS)}
    sizes = [_training(f"{model}-{percent}", model, (_SIZES_POLICY,), 100,
                       {**_COMMON, **_fault("loss", percent)})
             for model in _SIZES for percent in _SIZES_PERCENTS]
    return [*forced.values(), *sizes]


def harmless(points: Iterable[Point], without: float,
             percents: Iterable[int] = _PERCENTS) -> int:
    """The largest forced loss, of `percents` in order, that is harmless.
    Harmless means: the accuracy of this run, and of all runs with less loss,
    is within 1 % of the accuracy `without` loss."""
    most, runs = 0, dict(points)
    for percent in percents:
        if percent not in runs or not (
                runs[percent]["accuracy"] >= _WITHIN * without):
            break
        most = percent
    return most


def _without(curves: Iterable[Sequence[Point]]) -> list[float]:
    """The accuracies without forced loss."""
    return [run["accuracy"] for points in curves
            for percent, run in points if percent == 0]


def _points(results: Results, names: Mapping[int, str],
            algorithm: str) -> list[Point]:
    """`names`: of parts, by their forced loss."""
    return [(percent, run) for percent, name in names.items()
            for run in results.get(name, ()) if run["algorithm"] == algorithm]


def _forced_curves(kind: str, results: Results) -> dict[str, list[Point]]:
    """The curves with forced loss, by "policy, transform"."""
    curves = {}
    for transform in _TRANSFORMS:
        names = {percent: _name(kind, percent, transform)
                 for percent in _PERCENTS}
        for policy in _policies(kind, transform):
            points = _points(results, names, f"optireduce:{policy}")
            if any(percent for percent, _ in points):
                curves[f"{policy}, {transform}"] = points
    return curves


def _size_curves(results: Results) -> dict[str, list[Point]]:
    """The curves, by model."""
    return {
        model: points for model in _SIZES
        if (points := _points(results, {percent: f"{model}-{percent}"
                                        for percent in _SIZES_PERCENTS},
                              f"optireduce:{_SIZES_POLICY}"))}


def _bears(curves: Curves, percents: Sequence[int],
           without: float | None = None) -> str:
    """The largest harmless loss of each curve, relative to `without` or, if
    that is None, to the curve's own accuracy without loss."""
    told = []
    for name, points in curves.items():
        base = _without([points]) if without is None else [without]
        told += [f"{name}: {harmless(points, value, percents)} %"
                 for value in base]
    return "; ".join(told)


def _show_curves(title: str, curves: Curves, percents: Sequence[int],
                 without: Sequence[float], page: Page) -> None:
    page.heading(title)
    told = (_bears(curves, percents, statistics.mean(without)) if without
            else _bears(curves, percents))
    if told:
        page.line("Forced loss up to which the accuracy is within 1 % of that "
                  f"without: {told}.")
    if len(without) > 1:
        low, mean, high = (100 * value for value in (
            min(without), statistics.mean(without), max(without)))
        page.line(f"Accuracy without forced loss: {low:.2f} to {high:.2f} %, "
                  f"mean {mean:.2f} %.")
    page.table(
        ("", "forced", "lost", "accuracy", "divergence", "ms a step"),
        [(label, f"{percent} %", share(run["lost"]),
          f"{100 * run['accuracy']:.2f} %", f"{run['divergence']:.2g}",
          number(run["ms_per_step"]))
         for label, points in curves.items() for percent, run in points])


def _panel(curves: Curves) -> plot.Paint:
    cycle = {label: f"C{index}" for index, label in enumerate(
        [f"{policy}, {transform}" for transform in _TRANSFORMS
         for policy in _KINDS[_RANDOM][1]] + list(_SIZES))}
    return plot.curves(
        {label: [(percent, run["accuracy"]) for percent, run in points]
         for label, points in curves.items()},
        "forced loss, %", "accuracy", colours=cycle.get)


def _show(results: Results, page: Page) -> None:
    forced = {kind: _forced_curves(kind, results) for kind in _KINDS}
    sizes = _size_curves(results)
    panels = [(f"{kind} loss", _panel(curves))
              for kind, curves in forced.items() if curves]
    if sizes:
        panels.append(("sizes of a transformer, random loss", _panel(sizes)))
    if panels:
        page.picture("harmless", "Accuracy by forced loss", panels)
    for kind, curves in forced.items():
        if curves:
            _show_curves("Random loss" if kind == _RANDOM else "Tail loss",
                         curves, _PERCENTS, _without(curves.values()), page)
    if sizes:
        _show_curves("Sizes of a transformer", sizes, _SIZES_PERCENTS, (),
                     page)


def _percents(points: Iterable[Point]) -> set[int]:
    return {percent for percent, _ in points}


def _harm(points: Iterable[Point], mean: float) -> float:
    """The most points of accuracy lost at up to _HOPED per cent of loss.
    `mean`: the accuracy without forced loss."""
    return 100 * (mean - min(run["accuracy"] for percent, run in points
                             if percent <= _HOPED))


def _forced_claim(kind: str, results: Results) -> list[Claim]:
    whole = {key: points
             for key, points in _forced_curves(kind, results).items()
             if _percents(points) >= {
                 percent for percent in _PERCENTS if percent <= _HOPED}}
    if not whole:
        return []
    lacking = [f"{policy}, {transform}" for transform in _TRANSFORMS
               for policy in _policies(kind, transform)
               if f"{policy}, {transform}" not in whole]
    without = _without(whole.values())
    mean = statistics.mean(without)
    most = {key: harmless(points, mean) for key, points in whole.items()}
    least = min(most, key=most.__getitem__)
    found = f"least {most[least]} % ({least})"
    if most[least] < _HOPED:
        found += (f", which lost up to {_harm(whole[least], mean):.2f} points; "
                  "runs without forced loss differ by "
                  f"{100 * (max(without) - min(without)):.2f}")
    if lacking:
        found += f"; not measured: {'; '.join(lacking)}"
    return [Claim(
        f"Forced {kind} loss that does no harm", f"about {_HOPED} %",
        f"{_HOPED} % with every policy, plain and transformed"
        + (f" ({_ALL_OF_IT}: plain)" if _ALL_OF_IT in _KINDS[kind][1] else "")
        + f": accuracy within {100 * (1 - _WITHIN):.0f} %",
        found, most[least] >= _HOPED and not lacking)]


def _claims(results: Results) -> list[Claim]:
    claims = [claim for kind in _KINDS
              for claim in _forced_claim(kind, results)]
    sizes = _size_curves(results)
    if len(sizes) == len(_SIZES) and all(
            _percents(points) >= set(_SIZES_PERCENTS)
            for points in sizes.values()):
        bears = [harmless(points, *_without([points]), _SIZES_PERCENTS)
                 for points in sizes.values()]
        claims.append(Claim(
            "Larger models bear more loss", "yes",
            "none less than a smaller one, the largest more than the smallest",
            "; ".join(f"{model}: {percent} %"
                      for model, percent in zip(sizes, bears)),
            bears == sorted(bears) and bears[0] < bears[-1]))
    return claims


EXPERIMENT = Experiment("harmless", "How much loss is harmless", _parts, _show,
                        _claims)
