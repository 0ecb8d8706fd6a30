# SPDX-License-Identifier: Apache-2.0
"""All experiments, in the order of the report. To add
one, add a module and a row."""
from . import (ablation, accuracy, costs, dropped, errors, harmless, scale,
               steps, stragglers, tails, validation)

SUITE = {experiment.name: experiment for experiment in (
    tails.EXPERIMENT,
    accuracy.EXPERIMENT,
    harmless.EXPERIMENT,
    dropped.EXPERIMENT,
    stragglers.EXPERIMENT,
    validation.EXPERIMENT,
    scale.EXPERIMENT,
    errors.EXPERIMENT,
    costs.EXPERIMENT,
    ablation.SIMULATED,
    ablation.IN_LAB,
    steps.EXPERIMENT,
)}
