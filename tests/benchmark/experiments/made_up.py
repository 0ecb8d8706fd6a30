# SPDX-License-Identifier: Apache-2.0
"""Experiments whose commands take no time, and what real ones would write."""
import sys

from experiments_lib.experiment import Experiment, Part
from experiments_lib.store import Finding


def part(name, script="json.dump([1, 2], file)", **variables):
    """The script has an open `file` for its result."""
    program = ("import json, os, sys, time\n"
               "with open(sys.argv[-1], 'w') as file:\n    " + script)
    return Part(name, (sys.executable, "-c", program), 1, variables)


def experiment(*parts, name="made-up", tell=None):
    return Experiment(name, "Made up", "What is it?", lambda quick: parts,
                      tell or (lambda results, pictures: f"{results}\n\n"),
                      needs_root=False)


def finding(made, result):
    """What the store has of a part that was measured."""
    return Finding(list(made.command), dict(made.variables), "0123456789ab",
                   "2 x CPU", "2026-01-01T00:00:00+00:00", 1.5, result)


def row(algorithm, p50_ms):
    """Of benchmark/compare: a fiftieth of its iterations takes thrice the
    time."""
    return {"algorithm": algorithm, "ranks": 8, "elements": 1000000,
            "p50_us": 1000 * p50_ms, "p99_us": 3000 * p50_ms,
            "mean_us": 1040 * p50_ms, "loss_fraction": 0.001,
            "iterations": 50,
            "percentiles_us": [1000 * p50_ms] * 99 + [3000 * p50_ms] * 2}


def training(algorithm, seed, accuracies):
    """Of benchmark/train: evaluated every 10 steps of half a second."""
    return {"algorithm": algorithm, "seed": seed, "ms_per_step": 500,
            "accuracy": accuracies[-1],
            "accuracies": [{"step": 10 * number, "seconds": 5 * number,
                            "accuracy": accuracy}
                           for number, accuracy in enumerate(accuracies, 1)]}
