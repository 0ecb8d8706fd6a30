# SPDX-License-Identifier: Apache-2.0
"""Distributions of latencies, one picture for all sizes."""
from .table import human_bytes


def cdf(samples):
    """Returns (sorted samples, the fraction that does not exceed each)."""
    ordered = sorted(samples)
    return ordered, [(i + 1) / len(ordered) for i in range(len(ordered))]


def draw(results, path):
    """`results` are (row, samples in microseconds)."""
    import matplotlib  # slow to import: only if needed
    matplotlib.use("Agg")
    from matplotlib import pyplot

    sizes = list(dict.fromkeys(row["bytes"] for row, _ in results))
    figure, axes = pyplot.subplots(
        1, len(sizes), figsize=(5 * len(sizes), 4), squeeze=False,
        layout="constrained")
    for axis, size in zip(axes[0], sizes):
        for row, samples in results:
            if row["bytes"] != size:
                continue
            values, fractions = cdf(samples)
            axis.step([v / 1000 for v in values], fractions, where="post",
                      label=f"{row['algorithm']} ({row['transport']})")
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter("{x:g}")
        axis.set_ylim(0, 1)
        axis.set_title(f"{human_bytes(size)}, {results[0][0]['ranks']} ranks")
        axis.set_xlabel("time of an allreduce, ms")
        axis.grid(True, which="both", alpha=0.3)
    axes[0][0].set_ylabel("fraction of iterations")
    axes[0][-1].legend(fontsize="small", loc="lower right")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
