# SPDX-License-Identifier: Apache-2.0
"""What was measured, and where it comes from: a file of each part. And what
failed, and why."""
import contextlib
import dataclasses
import json
import os
from typing import Any

from .experiment import Experiment, Part

FOLDER = "raw"


@dataclasses.dataclass(frozen=True)
class Finding:
    """Of one part: what its command wrote, and all it takes to repeat it."""

    command: list[str]
    variables: dict[str, str]
    commit: str
    machine: str
    date: str  # when it began, in UTC
    seconds: float  # that it took
    result: Any


@dataclasses.dataclass(frozen=True)
class Failure:
    """Of one part, the last time it was tried."""

    command: list[str]
    variables: dict[str, str]
    date: str  # when it began, in UTC
    why: str


class Store:
    """Files below the report's folder. A part that was measured stays so until
    its command changes."""

    def __init__(self, report: str, quick: bool = False) -> None:
        """`report`: its folder. What is quick lies apart."""
        self._report = report
        self._folder = os.path.join(FOLDER, "quick") if quick else FOLDER

    def path(self, experiment: Experiment, part: Part) -> str:
        """From the report's folder."""
        return os.path.join(self._folder, experiment.name,
                            part.name + ".json")

    def get(self, experiment: Experiment, part: Part) -> Finding | None:
        """None: not measured, or with another command."""
        try:
            with open(os.path.join(self._report, self.path(experiment, part)),
                      encoding="utf-8") as file:
                finding = Finding(**json.load(file))
        except (OSError, ValueError, TypeError):
            return None
        return finding if _of(part, finding) else None

    def failure(self, experiment: Experiment, part: Part) -> Failure | None:
        """None: it has not failed since it was measured."""
        try:
            with open(self._failed(experiment, part),
                      encoding="utf-8") as file:
                failure = Failure(**json.load(file))
        except (OSError, ValueError, TypeError):
            return None
        return failure if _of(part, failure) else None

    def put(self, experiment: Experiment, part: Part,
            finding: Finding) -> None:
        """All of it or, if this is interrupted, what was there before."""
        _write(os.path.join(self._report, self.path(experiment, part)),
               finding)
        with contextlib.suppress(FileNotFoundError):
            os.remove(self._failed(experiment, part))

    def put_failure(self, experiment: Experiment, part: Part,
                    failure: Failure) -> None:
        """Beside what was measured before."""
        _write(self._failed(experiment, part), failure)

    def _failed(self, experiment: Experiment, part: Part) -> str:
        return os.path.join(self._report,
                            self.path(experiment, part) + ".failed")


def _of(part: Part, kept: Finding | Failure) -> bool:
    return (kept.command == list(part.command)
            and kept.variables == dict(part.variables))


def _write(path: str, kept: Finding | Failure) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(dataclasses.asdict(kept), file)
        file.write("\n")
    os.replace(path + ".new", path)
