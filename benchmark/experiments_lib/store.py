# SPDX-License-Identifier: Apache-2.0
"""Stores each part's result and its origin in a file, and failures with their
reasons."""
import contextlib
import dataclasses
import json
import os
from typing import Any

from .experiment import Experiment, Part

FOLDER = "raw"


@dataclasses.dataclass(frozen=True)
class Finding:
    """The result of one part: its command's output and everything needed to
    repeat it."""

    command: list[str]
    variables: dict[str, str]
    commit: str
    machine: str
    date: str  # when it began, in UTC
    seconds: float  # duration
    result: Any


@dataclasses.dataclass(frozen=True)
class Failure:
    """The last failure of one part."""

    command: list[str]
    variables: dict[str, str]
    date: str  # when it began, in UTC
    why: str


class Store:
    """Files in the report's folder. A part's result is valid until its command
    changes."""

    def __init__(self, report: str, quick: bool = False) -> None:
        """`report`: its folder. Quick results have a folder of their own."""
        self._report = report
        self._folder = os.path.join(FOLDER, "quick") if quick else FOLDER

    def path(self, experiment: Experiment, part: Part) -> str:
        """The path relative to the report's folder."""
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
        """Replaces the file atomically: if interrupted, the old result
        stays."""
        _write(os.path.join(self._report, self.path(experiment, part)),
               finding)
        with contextlib.suppress(FileNotFoundError):
            os.remove(self._failed(experiment, part))

    def put_failure(self, experiment: Experiment, part: Part,
                    failure: Failure) -> None:
        """Keeps the earlier result."""
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
