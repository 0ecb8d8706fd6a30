# SPDX-License-Identifier: Apache-2.0
"""All experiments, in the report's order. To add one, add a row."""
from . import (accuracy, costs, dropped, harmless, scale, stragglers,
               sum_errors, tails, validation)

SUITE = {experiment.name: experiment for experiment in (
    tails.EXPERIMENT,
    accuracy.EXPERIMENT,
    harmless.EXPERIMENT,
    dropped.EXPERIMENT,
    stragglers.EXPERIMENT,
    validation.EXPERIMENT,
    scale.EXPERIMENT,
    sum_errors.EXPERIMENT,
    costs.EXPERIMENT,
)}
