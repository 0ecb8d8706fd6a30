# SPDX-License-Identifier: Apache-2.0
"""Stores results and their origin, and failures with their reasons: a
compressed file for each experiment."""
import dataclasses
import json
import lzma
import os
from collections.abc import Mapping
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

    def path(self, experiment: Experiment) -> str:
        """The experiment's file, relative to the report's folder."""
        return os.path.join(self._folder, experiment.name + ".json.xz")

    def get(self, experiment: Experiment, part: Part) -> Finding | None:
        """None: not measured, or with another command."""
        return self._entry(experiment, part, "findings", Finding)

    def failure(self, experiment: Experiment, part: Part) -> Failure | None:
        """None: it has not failed since it was measured."""
        return self._entry(experiment, part, "failures", Failure)

    def put(self, experiment: Experiment, part: Part,
            finding: Finding) -> None:
        """Replaces the part's result, and forgets its failure."""
        kept = self._read(experiment)
        kept["findings"][part.name] = dataclasses.asdict(finding)
        kept["failures"].pop(part.name, None)
        self._write(experiment, kept)

    def put_failure(self, experiment: Experiment, part: Part,
                    failure: Failure) -> None:
        """Keeps the earlier result."""
        kept = self._read(experiment)
        kept["failures"][part.name] = dataclasses.asdict(failure)
        self._write(experiment, kept)

    def _entry(self, experiment: Experiment, part: Part, kind: str,
               make: type) -> Any:
        try:
            entry = make(**self._read(experiment)[kind][part.name])
        except (KeyError, TypeError):
            return None
        same = (entry.command == list(part.command)
                and entry.variables == dict(part.variables))
        return entry if same else None

    def _read(self, experiment: Experiment) -> dict[str, dict]:
        try:
            with lzma.open(os.path.join(self._report, self.path(experiment)),
                           "rt", encoding="utf-8") as file:
                kept = json.load(file)
        except (OSError, ValueError, EOFError, lzma.LZMAError):
            kept = None
        if not isinstance(kept, dict):
            kept = {}
        return {kind: kept.get(kind, {}) for kind in ("findings", "failures")}

    def _write(self, experiment: Experiment, kept: Mapping) -> None:
        """Replaces the file atomically: if interrupted, the old one stays."""
        path = os.path.join(self._report, self.path(experiment))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with lzma.open(path + ".new", "wt", encoding="utf-8") as file:
            json.dump(kept, file, separators=(",", ":"))
        os.replace(path + ".new", path)
