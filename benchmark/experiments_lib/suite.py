# SPDX-License-Identifier: Apache-2.0
"""All experiments, in the report's order. A new one is one more row."""
from . import accuracy, scale, stragglers, tails

SUITE = {experiment.name: experiment for experiment in (
    tails.EXPERIMENT,
    accuracy.EXPERIMENT,
    stragglers.EXPERIMENT,
    scale.EXPERIMENT,
)}
