# SPDX-License-Identifier: Apache-2.0
"""A progress bar on standard error, if that is a terminal."""
import sys


class Bar:
    """A context manager. Writes nothing if standard error is not a
    terminal."""

    def __init__(self) -> None:
        self._bar = None
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import (BarColumn, Progress, TextColumn,
                                       TimeRemainingColumn)
            self._bar = Progress(
                TextColumn("{task.description}"), BarColumn(bar_width=16),
                TextColumn("{task.percentage:3.0f} %"), TimeRemainingColumn(),
                console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("", total=None)

    def __enter__(self) -> "Bar":
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def show(self, description: str, **more: float) -> None:
        """`more`: `completed` and `total`, in any unit."""
        if self._bar:
            self._bar.update(self._task, description=description, **more)
