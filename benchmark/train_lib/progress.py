# SPDX-License-Identifier: Apache-2.0
"""A progress bar on standard error, when a person watches it."""
import sys


class Progress:
    """Over the steps of all runs, which are alike; nothing into a log."""

    def __init__(self, runs: int) -> None:
        self._runs = runs
        self._bar = None
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import (BarColumn, Progress as Bar, TextColumn,
                                       TimeRemainingColumn)
            self._bar = Bar(
                TextColumn("{task.description}"), BarColumn(bar_width=16),
                TextColumn("{task.percentage:3.0f} %"), TimeRemainingColumn(),
                console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("", total=None)

    def __enter__(self) -> "Progress":
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def begin(self, run: int, name: str) -> None:
        """Run number `run`, counted from 0, starts its ranks."""
        self._run = run
        self._name = name
        self._values: dict[str, str] = {}
        self._show(f"{name}: starting")

    def show(self, line: dict) -> None:
        """Takes each line of the log."""
        if "steps" in line:
            self._steps = line["steps"]
            return
        for value, text in (("loss", "loss {:.3f}"),
                            ("accuracy", "accuracy {:.3f}")):
            if value in line:
                self._values[value] = text.format(line[value])
        self._show(
            ", ".join([f"{self._name}: step {line['step']}/{self._steps}",
                       *self._values.values()]),
            total=self._runs * self._steps,
            completed=self._run * self._steps + line["step"])

    def _show(self, description: str, **more: float) -> None:
        if self._bar:
            self._bar.update(self._task, description=description, **more)
