# SPDX-License-Identifier: Apache-2.0
"""The loss that a training tolerates, by place of the loss, repair policy,
transform and model size (OptiReduce, section 3.3; Ultima's plots)."""
import dataclasses
import statistics
from collections.abc import Iterable, Mapping, Sequence

from .. import plot
from . import figures
from .experiment import Claim, Experiment, Part, Results
from .page import Page, number, share

# Kinds of forced loss: item of GLOO_UBT_FAULT, repair policies.
_KINDS = {"random": ("loss", ("none", "broadcast", "both")),
          "tail": ("tail", ("none", "broadcast"))}
_PERCENTS = (0, 1, 2, 5, 10, 20)
_TRANSFORMS = {"plain": "off", "transformed": "on"}  # GLOO_UBT_HADAMARD
_MODEL = "fashion"
_SIZES = ("bible-small", "bible", "bible-large")
_SIZES_PERCENTS = (0, 5, 20)
_SIZES_POLICY = "none"
_WITHIN = 0.99  # of the accuracy without loss: harmless
_HOPED = 5  # per cent of loss
# Datagrams have a network's size, not loopback's, and a job continues at any
# loss.
_COMMON = {"GLOO_UBT_MTU": "1500", "GLOO_UBT_HALT_LOSS": "0"}

Point = tuple[int, Mapping]  # per cent of forced loss, the run
Curves = Mapping[str, Sequence[Point]]  # by label


def _policies(kind: str, transform: str) -> list[str]:
    """If everything is repaired, a transform has no loss to spread."""
    return [policy for policy in _KINDS[kind][1]
            if (policy, transform) != ("both", "transformed")]


def _name(kind: str, percent: int, transform: str) -> str:
    """Of a part. Without loss the kind does not matter."""
    return f"{kind if percent else 'random'}-{percent}-{transform}"


@dataclasses.dataclass(frozen=True)
class Group:
    """Curves that one table shows."""

    title: str
    panel: str
    percents: Sequence[int]  # of forced loss
    # By label: the repair policy, and the parts' names by per cent.
    curves: Mapping[str, tuple[str, Mapping[int, str]]]
    # Whether a curve is compared with its own accuracy without loss. If not,
    # with the mean of all curves.
    compares_own: bool = False

    def found(self, results: Results) -> dict[str, list[Point]]:
        """The curves that have results with forced loss."""
        curves = {label: [
            (percent, run) for percent, name in names.items()
            for run in results.get(name, ())
            if run["algorithm"] == f"optireduce:{policy}"]
                  for label, (policy, names) in self.curves.items()}
        return {label: points for label, points in curves.items()
                if any(percent for percent, _ in points)}

    def bears(self, curves: Curves) -> dict[str, int]:
        """The largest harmless loss of each curve, if that is known."""
        own = without(curves)
        base = (own if self.compares_own or not own else
                dict.fromkeys(curves, statistics.mean(own.values())))
        return {label: harmless(curves[label], accuracy, self.percents)
                for label, accuracy in base.items()}


def _forced_group(kind: str) -> Group:
    return Group(
        f"{kind.capitalize()} loss", f"{kind} loss", _PERCENTS,
        {f"{policy}, {transform}": (policy, {
            percent: _name(kind, percent, transform)
            for percent in _PERCENTS})
         for transform in _TRANSFORMS
         for policy in _policies(kind, transform)})


_FORCED = {kind: _forced_group(kind) for kind in _KINDS}
_BY_SIZE = Group(
    "Sizes of a transformer", "sizes of a transformer, random loss",
    _SIZES_PERCENTS,
    {model: (_SIZES_POLICY, {percent: f"{model}-{percent}"
                             for percent in _SIZES_PERCENTS})
     for model in _SIZES}, compares_own=True)
_COLOURS = {label: f"C{index}" for index, label in enumerate(
    [f"{policy}, {transform}" for transform in _TRANSFORMS
     for policy in _KINDS["random"][1]] + list(_SIZES))}


def _training(name: str, model: str, policies: Iterable[str], steps: int,
              fault: str, percent: int, **more: str) -> Part:
    algorithms = [f"optireduce:{policy}" for policy in policies]
    forced = {"GLOO_UBT_FAULT": f"{fault}:{percent / 100:g},seed:1"} if (
        percent) else {}
    return figures.training(name, model, algorithms, steps, 1,
                            variables={**_COMMON, **more, **forced})


def _forced(kind: str, percent: int, transform: str, policies: Iterable[str],
            steps: int) -> Part:
    return _training(_name(kind, percent, transform), _MODEL, policies, steps,
                     _KINDS[kind][0], percent,
                     GLOO_UBT_HADAMARD=_TRANSFORMS[transform])


def _parts(quick: bool) -> Sequence[Part]:
    if quick:
        return [_forced(kind, percent, "plain", ("none",), 40)
                for kind, percent in (("random", 0), ("random", 10),
                                      ("tail", 10))]
    return [
        *(_forced(kind, percent, transform, _policies(kind, transform), 60)
          for kind in _KINDS
          for percent in _PERCENTS if percent or kind == "random"
          for transform in _TRANSFORMS),
        *(_training(f"{model}-{percent}", model, (_SIZES_POLICY,), 100, "loss",
                    percent)
          for model in _SIZES for percent in _SIZES_PERCENTS)]


def harmless(points: Iterable[Point], accuracy: float,
             percents: Iterable[int] = _PERCENTS) -> int:
    """The largest forced loss, of `percents` in order, that is harmless.
    Harmless means: the accuracy of this run, and of all runs with less loss,
    is within 1 % of the `accuracy` without loss."""
    most, runs = 0, dict(points)
    for percent in percents:
        if percent not in runs or not (
                runs[percent]["accuracy"] >= _WITHIN * accuracy):
            break
        most = percent
    return most


def without(curves: Curves) -> dict[str, float]:
    """The accuracies without forced loss."""
    return {label: run["accuracy"] for label, points in curves.items()
            for percent, run in points if percent == 0}


def _told(bears: Mapping[str, int]) -> str:
    return "; ".join(f"{label}: {most} %" for label, most in bears.items())


def _show_group(group: Group, curves: Curves, page: Page) -> None:
    page.heading(group.title)
    bears, accuracies = group.bears(curves), without(curves).values()
    if bears:
        page.line("Forced loss up to which the accuracy is within 1 % of that "
                  f"without: {_told(bears)}.")
    if len(accuracies) > 1 and not group.compares_own:
        low, mean, high = (100 * of(accuracies) for of in (
            min, statistics.mean, max))
        page.line(f"Accuracy without forced loss: {low:.2f} to {high:.2f} %, "
                  f"mean {mean:.2f} %.")
    page.table(
        ("", "forced", "missing", "accuracy", "divergence", "ms a step"),
        [(label, f"{percent} %", share(run["lost"]),
          f"{100 * run['accuracy']:.2f} %", f"{run['divergence']:.2g}",
          number(run["ms_per_step"]))
         for label, points in curves.items() for percent, run in points])


def _panel(curves: Curves) -> plot.Paint:
    return plot.curves(
        {label: [(percent, run["accuracy"]) for percent, run in points]
         for label, points in curves.items()},
        "forced loss, %", "accuracy", colours=_COLOURS.get)


def _show(results: Results, page: Page) -> None:
    shown = [(group, curves) for group in (*_FORCED.values(), _BY_SIZE)
             if (curves := group.found(results))]
    if shown:
        page.picture("harmless", "Accuracy by forced loss", [
            (group.panel, _panel(curves)) for group, curves in shown])
    for group, curves in shown:
        _show_group(group, curves, page)


def _whole(group: Group, results: Results, most: int) -> Curves:
    """The curves with results for each loss of at most this per cent."""
    wanted = {percent for percent in group.percents if percent <= most}
    return {label: points for label, points in group.found(results).items()
            if wanted <= {percent for percent, _ in points}}


def _forced_claim(kind: str, results: Results) -> list[Claim]:
    group = _FORCED[kind]
    whole = _whole(group, results, _HOPED)
    if not whole:
        return []
    bears, accuracies = group.bears(whole), without(whole).values()
    least = min(bears, key=bears.__getitem__)
    found = f"least {bears[least]} % ({least})"
    if bears[least] < _HOPED:
        harm = 100 * (statistics.mean(accuracies) - min(
            run["accuracy"] for percent, run in whole[least]
            if percent <= _HOPED))
        found += (f", which lost up to {harm:.2f} points; runs without forced "
                  "loss differ by "
                  f"{100 * (max(accuracies) - min(accuracies)):.2f}")
    lacking = [label for label in group.curves if label not in whole]
    if lacking:
        found += f"; not measured: {'; '.join(lacking)}"
    return [Claim(
        f"Forced {kind} loss that does no harm", f"about {_HOPED} %",
        f"{_HOPED} % with every policy, plain and transformed"
        + (" (both: plain)" if "both" in _KINDS[kind][1] else "")
        + f": accuracy within {100 * (1 - _WITHIN):.0f} %",
        found, bears[least] >= _HOPED and not lacking)]


def _claims(results: Results) -> list[Claim]:
    claims = [claim for kind in _KINDS
              for claim in _forced_claim(kind, results)]
    sizes = _whole(_BY_SIZE, results, max(_SIZES_PERCENTS))
    if len(sizes) == len(_SIZES):
        bears = _BY_SIZE.bears(sizes)
        most = list(bears.values())
        claims.append(Claim(
            "Larger models bear more loss", "yes",
            "none less than a smaller one, the largest more than the smallest",
            _told(bears), most == sorted(most) and most[0] < most[-1]))
    return claims


EXPERIMENT = Experiment("harmless", "How much loss is harmless", _parts, _show,
                        _claims)
