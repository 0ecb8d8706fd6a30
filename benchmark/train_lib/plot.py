# SPDX-License-Identifier: Apache-2.0
"""Loss and accuracy against steps and against time, in one picture."""
from collections.abc import Sequence

_ROWS = (("losses", "loss", "training loss", 1),
         ("accuracies", "accuracy", "accuracy on what was held out, %", 100))
_LINES = ("-", "--", ":", "-.")  # coinciding curves stay visible
_COLUMNS = (("step", "steps"), ("seconds", "seconds of training"))


def draw(runs: Sequence[dict], title: str, path: str) -> None:
    """`runs` are as --json writes them; a colour for each algorithm."""
    import matplotlib  # slow to import: only if needed
    matplotlib.use("Agg")
    from matplotlib import pyplot

    algorithms = list(dict.fromkeys(run["algorithm"] for run in runs))
    figure, axes = pyplot.subplots(
        len(_ROWS), len(_COLUMNS), figsize=(11, 7.5), sharex="col",
        sharey="row", layout="constrained")
    for axes_of_row, (curve, value, label, factor) in zip(axes, _ROWS):
        axes_of_row[0].set_ylabel(label)
        for axis, (against, _) in zip(axes_of_row, _COLUMNS):
            axis.grid(True, alpha=0.3)
            labelled = set()
            for run in runs:
                name = run["algorithm"]
                axis.plot(
                    [point[against] for point in run[curve]],
                    [factor * point[value] for point in run[curve]],
                    color=f"C{algorithms.index(name)}", linewidth=1.5,
                    linestyle=_LINES[algorithms.index(name) % len(_LINES)],
                    label=None if name in labelled else name)
                labelled.add(name)
    for axis, (_, label) in zip(axes[-1], _COLUMNS):
        axis.set_xlabel(label)
    axes[-1][-1].legend(fontsize="small", loc="lower right")
    figure.suptitle(title)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
