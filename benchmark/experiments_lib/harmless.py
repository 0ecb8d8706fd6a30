# SPDX-License-Identifier: Apache-2.0
"""How much loss a training bears, by where it is lost, by what is asked for
again, by transform, and by size (OptiReduce, section 3.3; Ultima's plots)."""
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from . import trainings
from .experiment import Claim, Experiment, Part, Results
from .markdown import number, share, table
from .pictures import Pictures, colour

_RANDOM, _TAIL = "random", "tail"
_KINDS = {  # of forced loss; the item of GLOO_UBT_FAULT, repair policies
    _RANDOM: ("loss", ("none", "broadcast", "both")),
    _TAIL: ("tail", ("none", "broadcast")),
}
_PERCENTS = (0, 1, 2, 5, 10, 20)
_TRANSFORMS = {"plain": "off", "transformed": "on"}  # GLOO_UBT_HADAMARD
_MODEL = "fashion"
_SIZES = ("bible-small", "bible", "bible-large")
_SIZES_PERCENTS = (0, 5, 20)
_SIZES_POLICY = "none"
_WITHIN = 0.99  # of the accuracy without loss: harmless
_HOPED = 5  # per cent of loss
_WHY_HARM = """\
after so few steps the final accuracy is partly chance: see what trainings
without forced loss came to."""
_WHY_NO_MORE = """\
the largest here has 2 million weights, the papers' hundreds of millions."""
# Datagrams as on a network, not as on loopback; and a job goes on, whatever
# it loses.
_COMMON = {"GLOO_UBT_MTU": "1500", "GLOO_UBT_HALT_LOSS": "0"}
_STEP_S = {"fashion": 0.13, "bible-small": 0.13, "bible": 0.25,
           "bible-large": 0.5}  # about

# Ultima's plots.
_DROPPING = ("--lab", "p3", *trainings.SLOW_LINKS)
_DROPPING_STEP_S = 0.35
_DROPPING_RUN = f"optireduce:{_SIZES_POLICY}"
_WAITS = "waits-for-all"
_BOUNDS_MS = (200, 160, 140, 120, 110)  # of a stage, by hand


def _training(name: str, model: str, policies: Iterable[str], steps: int,
              step_s: float, variables: Mapping[str, str],
              *more: str) -> Part:
    """Evaluated at the end alone."""
    algorithms = [f"optireduce:{policy}" for policy in policies]
    return Part(
        name, trainings.command(model, algorithms, steps, 9 * steps, *more),
        len(algorithms) * (trainings.START_S + steps * step_s), variables)


def _fault(item: str, percent: int) -> dict[str, str]:
    return {"GLOO_UBT_FAULT": f"{item}:{percent / 100:g},seed:1"} if (
        percent) else {}


def _name(kind: str, percent: int, transform: str) -> str:
    """Without loss there are no kinds."""
    return f"{kind if percent else _RANDOM}-{percent}-{transform}"


def _forced(kind: str, percent: int, transform: str, policies: Iterable[str],
            steps: int) -> Part:
    return _training(
        _name(kind, percent, transform), _MODEL, policies, steps,
        _STEP_S[_MODEL],
        {**_COMMON, "GLOO_UBT_HADAMARD": _TRANSFORMS[transform],
         **_fault(_KINDS[kind][0], percent)})


def _parts(quick: bool) -> Sequence[Part]:
    if quick:
        return [_forced(kind, percent, "plain", ("none",), 40)
                for kind, percent in ((_RANDOM, 0), (_RANDOM, 10),
                                      (_TAIL, 10))]
    forced = {part.name: part for part in (
        _forced(kind, percent, transform, policies, 80)
        for kind, (_, policies) in _KINDS.items()
        for percent in _PERCENTS if percent or kind == _RANDOM
        for transform in _TRANSFORMS)}
    sizes = [_training(f"{model}-{percent}", model, (_SIZES_POLICY,), 120,
                       _STEP_S[model], {**_COMMON, **_fault("loss", percent)})
             for model in _SIZES for percent in _SIZES_PERCENTS]
    bounds = [(_WAITS, {"GLOO_UBT_WARMUP_OPS": "1000000"}), *(
        (f"bound-{ms}-ms", {"GLOO_UBT_BOUND": f"{ms}ms",
                            "GLOO_UBT_WARMUP_OPS": "20"})
        for ms in _BOUNDS_MS)]
    dropping = [_training(name, _MODEL, (_SIZES_POLICY,), 80,
                          _DROPPING_STEP_S, variables, *_DROPPING)
                for name, variables in bounds]
    return [*forced.values(), *sizes, *dropping]


Point = tuple[int, Mapping]  # per cent of forced loss, the run


def harmless(points: Sequence[Point], without: float) -> int:
    """The most forced loss, in per cent, up to which a run's accuracy, and that
    of all with less, is within 1 % of the one `without` loss."""
    most = 0
    for percent, run in sorted(points, key=lambda point: point[0]):
        if not run["accuracy"] >= _WITHIN * without:
            break
        most = percent
    return most


def _without(curves: Iterable[Sequence[Point]]) -> list[float]:
    """Accuracies where no loss was forced."""
    return [run["accuracy"] for points in curves
            for percent, run in points if percent == 0]


def _sentence(found: Mapping[str, int]) -> str:
    """`found`: what is harmless, by curve."""
    told = "; ".join(f"{name}: {percent} %" for name, percent in found.items())
    return ("Forced loss up to which the accuracy is within 1 % of that "
            f"without: {told}.\n\n" if told else "")


def _sentence_of_one(curves: Mapping[str, Sequence[Point]]) -> str:
    """Where without forced loss all curves are of one training."""
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
    """Where each curve is of another training."""
    return _sentence({name: harmless(points, without)
                      for name, points in curves.items()
                      for without in _without([points])})


def _curve(points: Sequence[Point], label: str,
           **style: str) -> Callable[[Any], None]:
    def paint(axis: Any) -> None:
        axis.plot([percent for percent, _ in points],
                  [run["accuracy"] for _, run in points], marker=".",
                  label=label, **style)
    return paint


def _all(curves: Iterable[Callable[[Any], None]],
         abscissa: str = "forced loss, %", ordinate: str = "accuracy",
         limits: tuple[float, float] | None = None) -> Callable[[Any], None]:
    """`limits`: of the ordinate, so that panels compare."""
    curves = list(curves)

    def paint(axis: Any) -> None:
        for curve in curves:
            curve(axis)
        axis.set_xlabel(abscissa)
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
    """By policy and transform, where some loss was forced."""
    curves = {}
    for transform in _TRANSFORMS:
        names = {percent: _name(kind, percent, transform)
                 for percent in _PERCENTS}
        for policy in _KINDS[kind][1]:
            points = _points(results, names, f"optireduce:{policy}")
            if any(percent for percent, _ in points):
                curves[policy, transform] = points
    return curves


def _tell_forced(kind: str, results: Results, pictures: Pictures) -> str:
    curves = _forced_curves(kind, results)
    if not curves:
        return ""
    painted: dict[str, list[Callable[[Any], None]]] = {}
    for (policy, transform), points in curves.items():
        algorithm = f"optireduce:{policy}"
        painted.setdefault(transform, []).append(
            _curve(points, algorithm, color=colour(algorithm)))
    found = [run["accuracy"] for points in curves.values()
             for _, run in points if not math.isnan(run["accuracy"])]
    limits = (min(found) - 0.005, max(found) + 0.005) if found else None
    panels = [(transform, _all(some, limits=limits))
              for transform, some in painted.items()]
    labelled = {", ".join(key): points for key, points in curves.items()}
    return (f"### {'Random' if kind == _RANDOM else 'Tail'} loss\n\n"
            + pictures.draw(f"harmless-{kind}", f"Accuracy by {kind} loss",
                            panels)
            + "\n" + _sentence_of_one(labelled)
            + table(_HEADINGS, [row for label, points in labelled.items()
                                for row in _rows(label, points)]))


def _size_curves(results: Results) -> dict[str, list[Point]]:
    """By model."""
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


def _tell_dropped(results: Results, pictures: Pictures) -> str:
    runs = [(name, results[name][0]) for name in
            (_WAITS, *(f"bound-{ms}-ms" for ms in _BOUNDS_MS))
            if name in results]
    if not runs or runs[0][0] != _WAITS or len(runs) < 2:
        return ""
    waits = runs[0][1]

    def dropped(run: Mapping) -> float:  # where all is exact, nothing
        return run["lost"] or 0.0

    def speedup(run: Mapping) -> float:
        return waits["ms_per_step"] / run["ms_per_step"]

    def against(value: Callable[[Mapping], float]) -> Callable[[Any], None]:
        ordered = sorted((run for _, run in runs), key=dropped)

        def paint(axis: Any) -> None:
            axis.plot([100 * dropped(run) for run in ordered],
                      [value(run) for run in ordered], marker=".",
                      label=_DROPPING_RUN, color=colour(_DROPPING_RUN))
        return paint

    entries = "entries dropped, %"
    return (
        "### The tail dropped, in time\n\n"
        "In `p3`, with 4 hosts and links of 200 Mbit/s: "
        f"{_DROPPING_RUN} ends stages at a bound set by hand, which drops what "
        "is in the tail; once it waits for all.\n\n"
        + pictures.draw(
            "harmless-dropped", "Accuracy and speed-up by the tail dropped",
            [("accuracy", _all([against(lambda run: run["accuracy"])],
                               entries)),
             ("speed-up", _all([against(speedup)], entries,
                               "steps a second, of those that wait"))])
        + "\n" + table(
            ("stages", "dropped", "accuracy", "speed-up", "divergence",
             "ms a step"),
            [(name.replace("-", " "), share(dropped(run)),
              f"{100 * run['accuracy']:.2f} %", number(speedup(run)),
              f"{run['divergence']:.2g}", number(run["ms_per_step"]))
             for name, run in runs]))


def _tell(results: Results, pictures: Pictures) -> str:
    return ("".join(_tell_forced(kind, results, pictures) for kind in _KINDS)
            + _tell_sizes(results, pictures)
            + _tell_dropped(results, pictures))


def _percents(points: Iterable[Point]) -> set[int]:
    return {percent for percent, _ in points}


def _claims(results: Results) -> list[Claim]:
    claims = []
    for kind in _KINDS:
        curves = {key: points for key, points
                  in _forced_curves(kind, results).items()
                  if _percents(points) >= {0, _HOPED}}
        if curves:
            mean = statistics.mean(_without(curves.values()))
            most = {key: harmless(points, mean)
                    for key, points in curves.items()}
            least = min(most, key=most.__getitem__)
            claims.append(Claim(
                f"Forced {kind} loss that does no harm", f"about {_HOPED} %",
                f"{_HOPED} % with every policy, plain and transformed: "
                f"accuracy within {100 * (1 - _WITHIN):.0f} %",
                f"{most[least]} % where it is least ({', '.join(least)})",
                most[least] >= _HOPED, _WHY_HARM))
    sizes = _size_curves(results)
    if len(sizes) == len(_SIZES) and all(
            _percents(points) >= set(_SIZES_PERCENTS)
            for points in sizes.values()):
        bears = [harmless(points, *_without([points]))
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
