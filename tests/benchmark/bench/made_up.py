# SPDX-License-Identifier: Apache-2.0
"""Experiments whose commands take no time, and made-up outputs of real
ones."""
import sys
import tempfile
from unittest import mock

from bench import plot
from bench.experiments.experiment import Experiment, Part
from bench.experiments.page import Page
from bench.experiments.store import Finding


def part(name, script="json.dump([1, 2], file)", **variables):
    """The script has an open `file` for its result."""
    program = ("import json, os, sys, time\n"
               "with open(sys.argv[-1], 'w') as file:\n    " + script)
    return Part(name, (sys.executable, "-c", program), 1, variables)


def experiment(*parts, name="made-up", show=None):
    return Experiment(name, "Made up", lambda quick: parts,
                      show or (lambda results, page: page.line(f"{results}")))


def shown(experiment, results):
    """The text that an experiment shows of results by part. Draws nothing,
    which would take most of the time."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(
            plot, "draw"):
        page = Page(folder)
        experiment.show(results, page)
        return page.text


def finding(made, result):
    """The store's entry for a measured part."""
    return Finding(list(made.command), dict(made.variables), "0123456789ab",
                   "2 x CPU", "2026-01-01T00:00:00+00:00", 1.5, result)


def row(algorithm, p50_ms):
    """A row of benchmark/compare: a fiftieth of its iterations takes three
    times as long."""
    return {"algorithm": algorithm, "ranks": 8, "elements": 1000000,
            "p50_us": 1000 * p50_ms, "p99_us": 3000 * p50_ms,
            "mean_us": 1040 * p50_ms, "loss_fraction": 0.001,
            "cut_fraction": 0.0004, "drift_fraction": 0, "iterations": 50, "bytes": 4000000,
            "algbw_bytes_per_s": 4e9 / p50_ms, "cpu_s_per_gb": p50_ms / 100,
            "peak_resident_bytes": int(p50_ms) << 20,
            "wire_bytes_per_iteration": 8e4 * p50_ms,
            "step_mean_us": 1000 * p50_ms, "step_slow_tenth_us": 2000 * p50_ms,
            "cpu_others_fraction": 0.01,
            "percentiles_us": [1000 * p50_ms] * 99 + [3000 * p50_ms] * 2}


def simulated(algorithm, ranks, ms, **more):
    """A row of benchmark/simulate: all iterations take `ms`."""
    return {"algorithm": algorithm, "ranks": ranks, "groups": 4,
            "elements": 1000000, "lab": None, "gbit": 100.0, "tail": 1.5,
            "window_bytes": 16 << 20,
            "p50_ms": ms, "p99_ms": ms, "mean_ms": ms, "loss_fraction": 0,
            "iterations": 30,
            "cpu_seconds": 1.0, "peak_bytes": 1e8, "failed": None,
            "by_seed": [], **more}


def sum_errors(mse):
    """Rows of the arithmetic with 5 % lost packets, by algorithm. If
    transformed, the worst is a hundredth."""
    return [{"algorithm": algorithm, "pattern": pattern, "loss": 0.05,
             "hadamard": hadamard, "mse": value,
             "worst_se": 100 * value / (100 if hadamard else 1)}
            for pattern in ("random", "tail")
            for algorithm, value in mse.items()
            for hadamard in (False, True)]


def training(algorithm, seed, accuracies, **more):
    """A run of benchmark/train: evaluated every 10 steps of half a second."""
    return {"algorithm": algorithm, "seed": seed, "ms_per_step": 500,
            "accuracy": accuracies[-1], "lost": 0.02, "divergence": 0.003,
            **more,
            "accuracies": [{"step": 10 * number, "seconds": 5 * number,
                            "accuracy": accuracy}
                           for number, accuracy in enumerate(accuracies, 1)]}
