# SPDX-License-Identifier: Apache-2.0
"""The jobs that judge the loops: for each environment and seed, one with the
loop and one without. A job that several loops need runs once."""
import dataclasses
from collections.abc import Mapping, Sequence

from lab_lib.environments import Environment

from .loops import Change, Loop
from .run import Run


@dataclasses.dataclass(frozen=True)
class Trial:
    """A loop in an environment."""

    loop: Loop
    environment: Environment
    plain: Change  # settings of the unchanged job ...
    changed: Change  # ... and of the loop's variant


Runs = Sequence[Run]  # one for each seed


class Results:
    """The runs of jobs, by environment and settings."""

    def __init__(self) -> None:
        self._runs: dict[tuple, Runs] = {}

    def put(self, environment: Environment, change: Change,
            runs: Runs) -> None:
        self._runs[environment.name, key(change)] = runs

    def broken(self) -> list[str]:
        """The protocol promises that were broken."""
        return [run.broken for runs in self._runs.values() for run in runs
                if run.broken]

    def get(self, environment: Environment, change: Change) -> Runs:
        return self._runs[environment.name, key(change)]


def key(change: Change) -> tuple:
    """A key that is equal for equal settings."""
    return (*sorted(change.lab.items()), *sorted(change.simulator.items()))


def trials(loops: Sequence[Loop], environments: Sequence[Environment],
           baseline: Change) -> list[Trial]:
    """The trials, by environment. Leaves out loops that are judged at other
    losses, and loops whose variant equals the unchanged job."""
    found = []
    for environment in environments:
        for loop in loops:
            plain = baseline.then(loop.within)
            changed = plain.then(loop.change)
            least, most = loop.losses
            if least <= environment.loss <= most and changed != plain:
                found.append(Trial(loop, environment, plain, changed))
    return found


def changes(trials_of_one: Sequence[Trial], baseline: Change) -> list[Change]:
    """All jobs of an environment, the baseline first."""
    distinct: dict[tuple, Change] = {key(baseline): baseline}
    for trial in trials_of_one:
        distinct.setdefault(key(trial.plain), trial.plain)
        distinct.setdefault(key(trial.changed), trial.changed)
    return list(distinct.values())


def by_environment(all_trials: Sequence[Trial]) -> Mapping[str, list[Trial]]:
    grouped: dict[str, list[Trial]] = {}
    for trial in all_trials:
        grouped.setdefault(trial.environment.name, []).append(trial)
    return grouped
