# SPDX-License-Identifier: Apache-2.0
"""What was measured, and where it comes from: a file of each part."""
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
        same = (finding.command == list(part.command)
                and finding.variables == dict(part.variables))
        return finding if same else None

    def put(self, experiment: Experiment, part: Part,
            finding: Finding) -> None:
        """All of it or, if this is interrupted, what was there before."""
        path = os.path.join(self._report, self.path(experiment, part))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(dataclasses.asdict(finding), file)
            file.write("\n")
        os.replace(path + ".new", path)
