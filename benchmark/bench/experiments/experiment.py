# SPDX-License-Identifier: Apache-2.0
"""An experiment: commands that measure, and functions that show the results.
Its question, and what the results mean, stand on its page in docs/results."""
import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .page import Page

# Before a command that measures: its record is replayed (replayed.py).
REPLAYED = ("python", "-m", "bench.experiments.replayed")
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")


@dataclasses.dataclass(frozen=True)
class Part:
    """One command, and the name of its result."""

    name: str
    # From the repository's root; it gets --json FILE. "python" is the Python
    # that has the modules of bench.
    command: Sequence[str]
    seconds: float  # about how long it takes
    variables: Mapping[str, str] = dataclasses.field(default_factory=dict)
    # True: its output counts even with exit code 1, and names failures.
    says_failures: bool = False

    def __post_init__(self) -> None:
        assert _NAME.fullmatch(self.name), self.name

    @property
    def measuring(self) -> Sequence[str]:
        """The command that measures."""
        replayed = tuple(self.command[:len(REPLAYED)]) == REPLAYED
        return self.command[len(REPLAYED):] if replayed else self.command

    @property
    def needs_root(self) -> bool:
        """Whether it runs in the lab."""
        return ("--lab" in self.command
                and self.measuring[0] != "benchmark/simulate")

    @property
    def trains(self) -> bool:
        """Whether it runs PyTorch, so that --python counts."""
        return self.command[0] == "benchmark/train"


@dataclasses.dataclass(frozen=True)
class Claim:
    """A claim of the papers or a goal of this project, and the result."""

    what: str
    papers: str  # empty: they do not say
    goal: str  # here; it decides
    found: str
    holds: bool


Results = Mapping[str, Any]  # the parts' outputs, by part name


@dataclasses.dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    # All parts. If quick: those with the most information in a minute or two.
    parts: Callable[[bool], Sequence[Part]]
    # Shows the results. `Results` lacks parts that failed or were not
    # measured. Not called without any results.
    show: Callable[[Results, Page], None]
    # The claims that these results can decide.
    claims: Callable[[Results], Sequence[Claim]] = lambda results: ()
