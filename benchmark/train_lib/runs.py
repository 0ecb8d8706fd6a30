# SPDX-License-Identifier: Apache-2.0
"""A finished training: its curves, and figures derived from them."""
from collections.abc import Iterable


def make(about: dict, lines: Iterable[dict]) -> dict:
    """Joins `about` with a log's lines, in the form of --json.

    `lines` begins with the log's first one; see data_parallel.py.
    """
    head, *points = lines
    divergence = points[-1]["divergence"]
    losses = [point for point in points if "loss" in point]
    accuracies = [point for point in points if "accuracy" in point]
    last = losses[-1]
    return {
        **about, "parameters": head["parameters"], "steps": last["step"],
        "seconds": last["seconds"],
        "ms_per_step": 1000 * last["seconds"] / last["step"],
        "loss": last["loss"], "accuracy": accuracies[-1]["accuracy"],
        "divergence": divergence,
        "losses": losses, "accuracies": accuracies}
