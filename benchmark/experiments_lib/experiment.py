# SPDX-License-Identifier: Apache-2.0
"""What an experiment is: a question, commands that answer it, and how to tell
what they found."""
import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .pictures import Pictures

_NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")


@dataclasses.dataclass(frozen=True)
class Part:
    """One command, and the name of what it finds."""

    name: str
    command: Sequence[str]  # from the repository's root; it gets --json FILE
    seconds: float  # that it takes, about
    variables: Mapping[str, str] = dataclasses.field(default_factory=dict)
    # What it wrote counts though it exits with 1: it says what failed.
    says_failures: bool = False

    def __post_init__(self) -> None:
        assert _NAME.fullmatch(self.name), self.name  # a file's, too


@dataclasses.dataclass(frozen=True)
class Claim:
    """What the papers say, or is asked for here, and what was found."""

    what: str
    papers: str  # empty: they do not say
    asked: str  # here, and what decides
    found: str
    holds: bool
    why: str  # it does not, as far as measured; told only then


Results = Mapping[str, Any]  # what parts wrote, by their names


@dataclasses.dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    question: str
    # All of them, or, if quick, those that tell most in a minute or two.
    parts: Callable[[bool], Sequence[Part]]
    # Markdown, of what the parts wrote, by their names. A part that has not
    # been measured, or failed, is not there; of none this is not called.
    tell: Callable[[Results, Pictures], str]
    # Of the same; none about what was not measured.
    claims: Callable[[Results], Sequence[Claim]] = lambda results: ()
    needs_root: bool = True  # it works in the lab
