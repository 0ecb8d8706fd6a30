# SPDX-License-Identifier: Apache-2.0
"""Made-up measurements of jobs."""
from ablate_lib import plan
from ablate_lib.environments import parse
from ablate_lib.loops import LOOPS, REPAIR
from ablate_lib.run import Run

BASELINE = REPAIR["broadcast"]


def run(milliseconds=100.0, **changes):
    values = {"times_ms": [milliseconds] * 10, "loss": 0.0, "drift": 0.0,
              "mse": 0.0, "worst": 0.0}
    values.update(changes)
    return Run(**values)


def runs(*milliseconds, **changes):
    """One run for each seed."""
    return [run(each, **changes) for each in milliseconds]


def trial(name, environment="p3"):
    found, = plan.trials([LOOPS[name]], [parse(environment)], BASELINE)
    return found


def results(of_trial, plain, changed):
    made = plan.Results()
    made.put(of_trial.environment, BASELINE, plain)
    made.put(of_trial.environment, of_trial.plain, plain)
    made.put(of_trial.environment, of_trial.changed, changed)
    return made
