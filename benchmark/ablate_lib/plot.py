# SPDX-License-Identifier: Apache-2.0
"""A picture of the loops' benefits: a panel for each metric, with a field for
each loop and environment."""
import math
from collections.abc import Sequence

from .plan import Results, Trial
from .run import METRICS
from .verdict import Effect, effects

_PANELS = ("p50", "p99", "loss", "mse")
_MOST = 4  # the colour scale ends at this ratio and its inverse


def gain(effect: Effect) -> float:
    """The value without the loop over that with it; above 1 the loop pays."""
    if effect.with_loop == effect.without:
        return 1.0
    if effect.with_loop == 0:
        return math.inf
    return effect.without / effect.with_loop


def gains(name: str, trials: Sequence[Trial],
          results: Results) -> dict[tuple[str, str], float]:
    """The gains in the metric `name`, by loop and environment."""
    return {(trial.loop.name, effect.environment): gain(effect)
            for trial in trials for effect in effects(trial, results)
            if effect.metric.name == name}


def draw(trials: Sequence[Trial], results: Results, path: str) -> None:
    import matplotlib  # slow to import: only if needed
    matplotlib.use("Agg")
    from matplotlib import pyplot

    loops = list(dict.fromkeys(trial.loop.name for trial in trials))
    places = list(dict.fromkeys(trial.environment.name for trial in trials))
    assert set(_PANELS) <= {metric.name for metric in METRICS}
    figure, axes = pyplot.subplots(
        1, len(_PANELS), sharey=True, layout="constrained",
        figsize=(2 + len(_PANELS) * (0.6 + 0.5 * len(places)),
                 1.6 + 0.34 * len(loops)))
    for axis, name in zip(axes, _PANELS):
        found = gains(name, trials, results)
        fields = [[found.get((loop, place), math.nan) for place in places]
                  for loop in loops]
        axis.imshow([[_colour(field) for field in row] for row in fields],
                    cmap="RdYlGn", vmin=-1, vmax=1, aspect="auto")
        for y, row in enumerate(fields):
            for x, field in enumerate(row):
                axis.text(x, y, _text(field), ha="center", va="center",
                          fontsize=7)
        axis.set_title(name)
        axis.set_xticks(range(len(places)), places, rotation=60, ha="right")
        axis.set_yticks(range(len(loops)), loops)
    figure.suptitle("without a loop, times as much as with it "
                    "(green: it pays)")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def _colour(field: float) -> float:
    """The colour of a gain, from -1 to 1."""
    if math.isnan(field):
        return math.nan
    if field == 0:
        return -1.0
    return max(-1.0, min(1.0, math.log(field, _MOST)))


def _text(field: float) -> str:
    if math.isnan(field):
        return ""
    return "∞" if math.isinf(field) else f"{field:.2g}"
