# SPDX-License-Identifier: Apache-2.0
"""Pictures: distributions on an axis that shows tails, curves, and bars."""
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from . import algorithms

Paint = Callable[[Any], None]  # draws on the axes of one panel
_INCHES = (4.4, 3.3)
_COLOURS = {name: f"C{number}" for number, name in enumerate((
    "ring", "ring_chunked", "halving_doubling", "bcube", "tree", "transpose",
    "optireduce:none", "parameter_server", "gloo"))}
_COLOURS["optireduce"] = _COLOURS["optireduce:broadcast"] = "black"
_LINES = ("-", "--", ":", "-.")  # curves that coincide stay visible
_STYLES = {name: _LINES[number % 4] for number, name in enumerate(_COLOURS)}


def colour(name: str) -> str:
    """The same colour in all pictures; olive for algorithms without one."""
    return _COLOURS.get(name) or _COLOURS.get(algorithms.base(name), "olive")


def _line(name: str, number: int) -> str:
    """The same style in all pictures; by number for other names."""
    return _STYLES.get(name, _LINES[number % 4])


def draw(path: str, panels: Sequence[tuple[str, Paint]], title: str = "",
         columns: int = 3) -> None:
    """Writes a picture of panels, each with its title. The one legend of all
    panels stands outside of them, so it covers nothing."""
    import matplotlib  # slow to import: only if needed
    matplotlib.use("Agg")
    # The same data gives the same file. Text stays searchable.
    matplotlib.rcParams["svg.hashsalt"] = "bench"
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot

    columns = min(columns, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure, grid = pyplot.subplots(
        rows, columns, squeeze=False, layout="constrained",
        figsize=(_INCHES[0] * columns + 1.8, _INCHES[1] * rows))
    axes = list(grid.flat)
    entries: dict[str, Any] = {}  # of all panels, as a panel may lack curves
    for axis, (heading, paint) in zip(axes, panels):
        axis.set_title(heading, fontsize="medium")
        axis.grid(True, which="major", alpha=0.3)
        paint(axis)
        handles, labels = axis.get_legend_handles_labels()
        entries |= dict(zip(labels, handles))
    for axis in axes[len(panels):]:
        axis.set_axis_off()
    if entries:
        grid[0][-1].legend(entries.values(), entries.keys(), fontsize="small",
                           bbox_to_anchor=(1.02, 1), loc="upper left")
    figure.suptitle(title)
    figure.savefig(path, dpi=120, metadata={
        "Date": None} if path.endswith(".svg") else None)
    pyplot.close(figure)


def survival(samples: Iterable[float]) -> tuple[list[float], list[float]]:
    """Sorted samples, and the share of samples that are at least as large."""
    ordered = sorted(samples)
    return ordered, [1 - i / len(ordered) for i in range(len(ordered))]


def tails(samples: Mapping[str, Sequence[float]]) -> Paint:
    """The shares of allreduces that take longer than a time: 1 - CDF on a
    logarithmic axis, by algorithm. Times are in ms."""
    def paint(axis: Any) -> None:
        for number, (name, values) in enumerate(samples.items()):
            axis.step(*survival(values), where="pre", label=name,
                      color=colour(name), linestyle=_line(name, number))
        axis.set_yscale("log")
        axis.set_xlim(left=0)
        axis.set_xlabel("time of an allreduce, ms")
        axis.set_ylabel("share that takes longer")
    return paint


def curves(points: Mapping[str, Iterable[tuple[float, Any]]], abscissa: str,
           ordinate: str, log: bool = False,
           colours: Callable[[str], str | None] = colour) -> Paint:
    """Lines by name. An ordinate that is a list, of several seeds, becomes its
    mean with a bar from its least to its largest value. `log`: of the
    ordinate."""
    def paint(axis: Any) -> None:
        for number, (name, own) in enumerate(points.items()):
            xs, all_ys = zip(*own) if (own := list(own)) else ((), ())
            lists = [ys if isinstance(ys, list) else [ys] for ys in all_ys]
            means = list(map(statistics.fmean, lists))
            errors = [[mean - min(ys) for mean, ys in zip(means, lists)],
                      [max(ys) - mean for mean, ys in zip(means, lists)]]
            several = any(len(ys) > 1 for ys in lists)
            axis.errorbar(xs, means, yerr=errors if several else None,
                          marker=".", capsize=2, linewidth=1.2, label=name,
                          color=colours(name), linestyle=_line(name, number))
        if log:
            axis.set_yscale("log")
        axis.set_xlabel(abscissa)
        axis.set_ylabel(ordinate)
    return paint


def bars(groups: Sequence[str], heights: Mapping[str, Sequence[float]],
         ordinate: str) -> Paint:
    """Bars from zero, by name, at each of the groups."""
    def paint(axis: Any) -> None:
        width = 0.8 / max(1, len(heights))
        for number, (name, own) in enumerate(heights.items()):
            left = (number - (len(heights) - 1) / 2) * width
            axis.bar([group + left for group in range(len(groups))], own,
                     width, label=name, color=colour(name))
        axis.set_xticks(range(len(groups)), groups)
        axis.set_ylim(bottom=0)
        axis.set_ylabel(ordinate)
    return paint
