# SPDX-License-Identifier: Apache-2.0
"""All experiments, in the order of the report. To add one, add a module and a
row."""
from . import (ablation, accuracy, costs, errors, goals, harmless,
               loopback, scale, sharing, stops, stragglers, tails, variants)

SUITE = {experiment.name: experiment for experiment in (
    goals.EXPERIMENT,
    stops.EXPERIMENT,
    loopback.EXPERIMENT,
    sharing.EXPERIMENT,
    variants.EXPERIMENT,
    tails.EXPERIMENT,
    accuracy.EXPERIMENT,
    harmless.EXPERIMENT,
    stragglers.EXPERIMENT,
    scale.EXPERIMENT,
    errors.EXPERIMENT,
    costs.EXPERIMENT,
    ablation.EXPERIMENT,
)}
