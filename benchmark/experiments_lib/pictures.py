# SPDX-License-Identifier: Apache-2.0
"""Pictures of a report."""
import math
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

FOLDER = "pictures"
_INCHES = (4.2, 3.2)


class Pictures:
    """Draws into a subfolder of the report."""

    def __init__(self, report: str) -> None:
        """`report`: its folder."""
        import matplotlib  # slow to import: only if needed
        matplotlib.use("Agg")
        # The same data gives the same file. Text stays searchable.
        matplotlib.rcParams["svg.hashsalt"] = "experiments"
        matplotlib.rcParams["svg.fonttype"] = "none"
        self._report = report
        os.makedirs(os.path.join(report, FOLDER), exist_ok=True)

    def draw(self, name: str, caption: str,
             panels: Iterable[tuple[str, Callable[[Any], None]]],
             columns: int = 3) -> str:
        """Draws panels, (title, function that draws on its axes), `columns` in
        a row. Returns the Markdown that shows them."""
        from matplotlib import pyplot
        panels = list(panels)
        columns = min(columns, len(panels))
        rows = math.ceil(len(panels) / columns)
        figure, grid = pyplot.subplots(
            rows, columns, squeeze=False, layout="constrained",
            figsize=(_INCHES[0] * columns, _INCHES[1] * rows))
        axes = list(grid.flat)
        for axis, (title, paint) in zip(axes, panels):
            axis.set_title(title, fontsize="medium")
            axis.grid(True, which="both", alpha=0.3)
            paint(axis)
        entries = {}  # of all panels, as a panel may lack curves
        for axis in axes[:len(panels)]:
            handles, labels = axis.get_legend_handles_labels()
            entries |= dict(zip(labels, handles))
        for axis in axes[len(panels):]:
            axis.set_axis_off()
        axes[-1].legend(entries.values(), entries.keys(), fontsize="small")
        path = f"{FOLDER}/{name}.svg"
        figure.savefig(os.path.join(self._report, path),
                       metadata={"Date": None})
        pyplot.close(figure)
        return f"![{caption}]({path})\n"


_COLOURS = {
    **{name: f"C{number}" for number, name in enumerate((
        "ring", "ring_chunked", "halving_doubling", "bcube", "tree",
        "transpose", "optireduce:none", "optireduce:broadcast",
        "parameter_server", "hierarchical_transpose"))},  # C10 is C0
    "optireduce": "black", "optireduce:both": "navy"}


def colour(algorithm: str) -> str:
    """The same colour in all pictures."""
    return _COLOURS[algorithm]


def distributions(rows: Iterable[Mapping]) -> Callable[[Any], None]:
    """Draws the distribution of iteration times in ms, for rows of
    benchmark/compare."""
    def paint(axis: Any) -> None:
        for row in rows:
            times = [us / 1000 for us in row["percentiles_us"]]
            axis.step(times, [share / 100 for share in range(len(times))],
                      where="post", label=row["algorithm"],
                      color=colour(row["algorithm"]))
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter("{x:g}")
        axis.xaxis.set_minor_formatter("{x:g}")
        axis.tick_params(axis="x", which="both", labelsize="small",
                         labelrotation=45)
        axis.set_ylim(0, 1)
        axis.set_xlabel("time of an allreduce, ms")
        axis.set_ylabel("fraction of iterations")
    return paint
