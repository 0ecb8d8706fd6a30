# SPDX-License-Identifier: Apache-2.0
"""Stores results and their origin: a compressed file for each experiment."""
import dataclasses
import json
import lzma
import os
from typing import Any

from ..findings import writing
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


class Store:
    """Files in the report's folder. A part's result is valid until its command
    changes."""

    def __init__(self, report: str, quick: bool = False) -> None:
        """`report`: its folder. Quick results have a folder of their own."""
        self._report = report
        self._folder = os.path.join(FOLDER, "quick") if quick else FOLDER

    def path(self, experiment: Experiment) -> str:
        """The experiment's file, relative to the report's folder."""
        return os.path.join(self._folder, experiment.name + ".json.xz")

    def get(self, experiment: Experiment, part: Part) -> Finding | None:
        """None: not measured, or with another command."""
        try:
            found = Finding(**self._read(experiment)[part.name])
        except (KeyError, TypeError):
            return None
        same = (found.command == list(part.command)
                and found.variables == dict(part.variables))
        return found if same else None

    def put(self, experiment: Experiment, part: Part,
            finding: Finding) -> None:
        """Replaces the part's result. Raises UserError if the file cannot be
        written; the old one then stays."""
        findings = {**self._read(experiment),
                    part.name: dataclasses.asdict(finding)}
        path = os.path.join(self._report, self.path(experiment))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with writing("--out", path) as place, \
                lzma.open(place, "wt", encoding="utf-8") as file:
            json.dump({"findings": findings}, file, separators=(",", ":"))

    def _read(self, experiment: Experiment) -> dict[str, dict]:
        """By part. Empty if the file is missing or is no result."""
        try:
            with lzma.open(os.path.join(self._report, self.path(experiment)),
                           "rt", encoding="utf-8") as file:
                return dict(json.load(file)["findings"])
        except (OSError, ValueError, EOFError, lzma.LZMAError, KeyError,
                TypeError):
            return {}
