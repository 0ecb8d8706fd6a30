# SPDX-License-Identifier: Apache-2.0
"""An experiment: a question, commands that answer it, and functions that
describe the results."""
import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .pictures import Pictures

_NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")


@dataclasses.dataclass(frozen=True)
class Part:
    """One command, and the name of its result."""

    name: str
    command: Sequence[str]  # from the repository's root; it gets --json FILE
    seconds: float  # about how long it takes
    variables: Mapping[str, str] = dataclasses.field(default_factory=dict)
    # True: its output counts even with exit code 1, and names failures.
    says_failures: bool = False

    def __post_init__(self) -> None:
        assert _NAME.fullmatch(self.name), self.name  # also a file name


@dataclasses.dataclass(frozen=True)
class Claim:
    """A claim of the papers or a goal of this project, and the result."""

    what: str
    papers: str  # empty: they do not say
    asked: str  # the goal here; it decides
    found: str
    holds: bool
    why: str  # why it does not hold, if known; shown only then


Results = Mapping[str, Any]  # the parts' outputs, by part name


@dataclasses.dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    question: str
    # All parts. If quick: those with the most information in a minute or two.
    parts: Callable[[bool], Sequence[Part]]
    # Markdown about the results. `Results` lacks parts that failed or were not
    # measured. Not called without any results.
    tell: Callable[[Results, Pictures], str]
    # The claims that these results can decide.
    claims: Callable[[Results], Sequence[Claim]] = lambda results: ()
    needs_root: bool = True  # it runs in the lab
