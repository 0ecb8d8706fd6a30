# SPDX-License-Identifier: Apache-2.0
"""A progress bar on standard error, when a person watches it."""
import sys

from .table import human_bytes


class Progress:
    """Takes the worker's "progress" events; draws nothing into a log."""

    def __init__(self, sizes):
        self._sizes = list(sizes)
        self._bar = None
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import (BarColumn, Progress as Bar, TextColumn,
                                       TimeRemainingColumn)
            self._bar = Bar(
                TextColumn("{task.description}"), BarColumn(),
                TextColumn("{task.percentage:3.0f} %"), TimeRemainingColumn(),
                console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("connecting", total=None)

    def __enter__(self):
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *_):
        if self._bar:
            self._bar.stop()

    def connected(self):
        if self._bar:
            self._bar.update(self._task, description="warming up")

    def show(self, event, sizes_done):
        if self._bar:
            total = event["total_s"] * len(self._sizes)
            done = event["total_s"] * sizes_done + min(
                event["elapsed_s"], event["total_s"])
            self._bar.update(
                self._task, total=total, completed=done,
                description=f"{human_bytes(4 * event['elements'])}, "
                f"{event['rounds']} rounds")
