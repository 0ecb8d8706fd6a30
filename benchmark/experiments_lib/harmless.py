# SPDX-License-Identifier: Apache-2.0
"""The loss that a training tolerates, by place of the loss, repair policy,
transform and model size (OptiReduce, section 3.3; Ultima's plots)."""
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from . import trainings
from .experiment import Claim, Experiment, Part, Results
from .markdown import number, share, table
from .pictures import Pictures, colour

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
_WHY_NO_MORE = """\
it is not known. They have one seed each: what of it is chance was not
measured."""
# Datagrams have a network's size, not loopback's, and a job continues at any
# loss.
_COMMON = {"GLOO_UBT_MTU": "1500", "GLOO_UBT_HALT_LOSS": "0"}
_STEP_S = {"fashion": 0.17, "bible-small": 0.11, "bible": 0.21,
           "bible-large": 0.42}  # about


def _policies(kind: str, transform: str) -> list[str]:
    """If everything is repaired, a transform has no loss to spread."""
    return [policy for policy in _KINDS[kind][1]
            if not (policy == _ALL_OF_IT and transform == _TRANSFORMED)]


def _training(name: str, model: str, policies: Iterable[str], steps: int,
              variables: Mapping[str, str]) -> Part:
    algorithms = [f"optireduce:{policy}" for policy in policies]
    return Part(
        name, trainings.command(model, algorithms, steps, 1),
        len(algorithms) * (trainings.START_S + steps * _STEP_S[model]),
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


Point = tuple[int, Mapping]  # per cent of forced loss, the run


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


def _sentence(found: Mapping[str, int]) -> str:
    """`found`: the largest harmless loss, by curve."""
    told = "; ".join(f"{name}: {percent} %" for name, percent in found.items())
    return ("Forced loss up to which the accuracy is within 1 % of that "
            f"without: {told}.\n\n" if told else "")


def _sentence_of_one(curves: Mapping[str, Sequence[Point]]) -> str:
    """If without forced loss all curves show the same training."""
    without = _without(curves.values())
    if not without:
        return ""
    mean = statistics.mean(without)
    told = _sentence({name: harmless(points, mean)
                      for name, points in curves.items()})
    return told if len(without) == 1 else told + (
        "Without forced loss they are one training, but for rounding and what "
        f"bounds cut off. It came to {100 * min(without):.2f} to "
        f"{100 * max(without):.2f} %: so much is chance"
        + ("" if min(without) >= _WITHIN * max(without) else
           ", and more than the 1 % that are asked for")
        + f". Its mean, {100 * mean:.2f} %, is what counts here.\n\n")


def _sentence_of_each(curves: Mapping[str, Sequence[Point]]) -> str:
    """If each curve shows another training."""
    return _sentence({name: harmless(points, without, _SIZES_PERCENTS)
                      for name, points in curves.items()
                      for without in _without([points])})


def _curve(points: Sequence[Point], label: str, what: str = "accuracy",
           **style: str) -> Callable[[Any], None]:
    def paint(axis: Any) -> None:
        axis.plot([percent for percent, _ in points],
                  [run[what] for _, run in points], marker=".", label=label,
                  **style)
    return paint


def _all(curves: Iterable[Callable[[Any], None]], ordinate: str = "accuracy",
         limits: tuple[float, float] | None = None) -> Callable[[Any], None]:
    """`limits`: of the y axis, equal in all panels that are compared."""
    curves = list(curves)

    def paint(axis: Any) -> None:
        for curve in curves:
            curve(axis)
        axis.set_xlabel("forced loss, %")
        axis.set_ylabel(ordinate)
        axis.set_ylim(limits)
    return paint


def _rows(label: str, points: Sequence[Point]) -> list[tuple[str, ...]]:
    return [(label, f"{percent} %", share(run["lost"]),
             f"{100 * run['accuracy']:.2f} %", f"{run['divergence']:.2g}",
             number(run["ms_per_step"])) for percent, run in points]


_HEADINGS = ("", "forced", "lost", "accuracy", "divergence", "ms a step")


def _points(results: Results, names: Mapping[int, str],
            algorithm: str) -> list[Point]:
    """`names`: of parts, by their forced loss."""
    return [(percent, run) for percent, name in names.items()
            for run in results.get(name, ()) if run["algorithm"] == algorithm]


def _forced_curves(kind: str, results: Results) -> dict[
        tuple[str, str], list[Point]]:
    """The curves with forced loss, by policy and transform."""
    curves = {}
    for transform in _TRANSFORMS:
        names = {percent: _name(kind, percent, transform)
                 for percent in _PERCENTS}
        for policy in _policies(kind, transform):
            points = _points(results, names, f"optireduce:{policy}")
            if any(percent for percent, _ in points):
                curves[policy, transform] = points
    return curves


def _tell_forced(kind: str, results: Results, pictures: Pictures) -> str:
    curves = _forced_curves(kind, results)
    if not curves:
        return ""
    panels = []
    for what in ("accuracy", "divergence"):
        found = [run[what] for points in curves.values()
                 for _, run in points if not math.isnan(run[what])]
        limits = (min(found) - 0.005, max(found) + 0.005) if found else None
        for transform in dict.fromkeys(key[1] for key in curves):
            panels.append((transform, _all(
                [_curve(points, f"optireduce:{policy}", what,
                        color=colour(f"optireduce:{policy}"))
                 for (policy, own), points in curves.items()
                 if own == transform], what, limits)))
    labelled = {", ".join(key): points for key, points in curves.items()}
    return (f"### {'Random' if kind == _RANDOM else 'Tail'} loss\n\n"
            + pictures.draw(f"harmless-{kind}", "Accuracy and divergence by "
                            f"{kind} loss", panels, columns=2)
            + "\n" + _sentence_of_one(labelled)
            + table(_HEADINGS, [row for label, points in labelled.items()
                                for row in _rows(label, points)]))


def _size_curves(results: Results) -> dict[str, list[Point]]:
    """The curves, by model."""
    return {
        model: points for model in _SIZES
        if (points := _points(results, {percent: f"{model}-{percent}"
                                        for percent in _SIZES_PERCENTS},
                              f"optireduce:{_SIZES_POLICY}"))}


def _tell_sizes(results: Results, pictures: Pictures) -> str:
    curves = _size_curves(results)
    if not curves:
        return ""
    return ("### Sizes of a transformer\n\n"
            + pictures.draw(
                "harmless-sizes", "Accuracy by random loss and size",
                [(f"repair {_SIZES_POLICY}", _all(
                    _curve(points, model)
                    for model, points in curves.items()))])
            + "\n" + _sentence_of_each(curves)
            + table(_HEADINGS, [row for model, points in curves.items()
                                for row in _rows(model, points)]))


def _tell(results: Results, pictures: Pictures) -> str:
    return ("".join(_tell_forced(kind, results, pictures) for kind in _KINDS)
            + _tell_sizes(results, pictures))


def _percents(points: Iterable[Point]) -> set[int]:
    return {percent for percent, _ in points}


def _harm(points: Iterable[Point], mean: float) -> float:
    """The most points of accuracy lost at up to _HOPED per cent of loss.
    `mean`: the accuracy without forced loss."""
    return 100 * (mean - min(run["accuracy"] for percent, run in points
                             if percent <= _HOPED))


def _why_harm(curves: Mapping[tuple[str, str], Sequence[Point]],
              least: tuple[str, str], without: Sequence[float]) -> str:
    """About the curve that tolerates the least loss."""
    mean = statistics.mean(without)
    most = _harm(curves[least], mean)
    spread = 100 * (max(without) - min(without))
    told = (f"it lost up to {most:.2f} points, and runs without forced loss "
            f"differ by {spread:.2f}")
    if most <= spread:
        return f"{told}: it may be chance."
    others = [f"{_harm(points, mean):.2f} ({', '.join(key)})"
              for key, points in curves.items() if key != least]
    if others:
        told += f"; the others lost up to {', '.join(others)}"
    return (f"{told}. With one seed each, how far runs with forced loss differ "
            "by chance was not measured.")


def _forced_claim(kind: str, results: Results) -> list[Claim]:
    curves = _forced_curves(kind, results)
    whole = {key: points for key, points in curves.items()
             if _percents(points) >= {
                 percent for percent in _PERCENTS if percent <= _HOPED}}
    if not whole:
        return []
    lacking = [", ".join((policy, transform)) for transform in _TRANSFORMS
               for policy in _policies(kind, transform)
               if (policy, transform) not in whole]
    without = _without(whole.values())
    most = {key: harmless(points, statistics.mean(without))
            for key, points in whole.items()}
    least = min(most, key=most.__getitem__)
    return [Claim(
        f"Forced {kind} loss that does no harm", f"about {_HOPED} %",
        f"{_HOPED} % with every policy, plain and transformed"
        + (f" ({_ALL_OF_IT}: plain)" if _ALL_OF_IT in _KINDS[kind][1] else "")
        + f": accuracy within {100 * (1 - _WITHIN):.0f} %",
        f"{most[least]} % where it is least ({', '.join(least)})"
        + (f"; not measured: {'; '.join(lacking)}" if lacking else ""),
        most[least] >= _HOPED and not lacking,
        _why_harm(whole, least, without) if most[least] < _HOPED
        else "some were not measured.")]


def _claims(results: Results) -> list[Claim]:
    claims = [claim for kind in _KINDS
              for claim in _forced_claim(kind, results)]
    sizes = _size_curves(results)
    if len(sizes) == len(_SIZES) and all(
            _percents(points) >= set(_SIZES_PERCENTS)
            for points in sizes.values()):
        bears = [harmless(points, *_without([points]), _SIZES_PERCENTS)
                 for points in sizes.values()]
        top = max(_SIZES_PERCENTS)
        claims.append(Claim(
            "Larger models bear more loss", "yes",
            "none less than a smaller one, the largest more than the smallest",
            "; ".join(f"{model}: {percent} %"
                      for model, percent in zip(sizes, bears)),
            bears == sorted(bears) and bears[0] < bears[-1],
            f"all bear the {top} % that were tried at most."
            if min(bears) == top else _WHY_NO_MORE))
    return claims


EXPERIMENT = Experiment(
    "harmless", "How much loss is harmless",
    "What do losses do to accuracy, and how far do they drive replicas apart? "
    "Forced are losses of datagrams at random, control and repeats included, "
    "or of the last share of each message; `lost` is what sums lacked in the "
    "end, and `divergence` the largest distance of a replica from the mean of "
    "all, over the length of that mean. Rows are repair policies, plain or "
    "with the Hadamard transform, of fashion, 4 ranks on loopback, MTU 1500; "
    "sizes are of a transformer, transformed while much is lost. One seed; the "
    "first 20 allreduces of a size are exact; the halt by loss is off. The "
    "papers: about 5 % do no harm, and larger models bear more.",
    _parts, _tell, _claims)
