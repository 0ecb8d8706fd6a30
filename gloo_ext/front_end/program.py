# SPDX-License-Identifier: Apache-2.0
"""A command that runs scripts over the library."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable


@dataclasses.dataclass(frozen=True)
class Program:
    """What differs between the commands that launch.main() serves."""

    name: str  # as users type it
    python: str  # runs the script, unless --python names another
    note: str  # about the library, for --help
    path: str  # of the library; it may not be there yet
    library: Callable[[], str]  # makes sure that it is there; its path
    packages: tuple[str, ...]  # folders with gloo_ubt, if Python lacks it
    startup: str  # the folder of the ranks' start-up code
    no_path: str  # the remedy if `path` cannot be preloaded
    no_torch: str  # the remedy if that Python has no PyTorch
    no_library: str  # the remedy if it cannot load the library, a sentence
