# SPDX-License-Identifier: Apache-2.0
"""Shows the progress of the comparison."""
from front_end.progress import Bar

from .table import human_bytes


class Progress(Bar):
    """Takes the worker's "progress" events."""

    def __init__(self, sizes):
        super().__init__()
        self._sizes = list(sizes)
        self.show("connecting")

    def connected(self):
        self.show("warming up")

    def take(self, event, sizes_done):
        total = event["total_s"] * len(self._sizes)
        done = event["total_s"] * sizes_done + min(
            event["elapsed_s"], event["total_s"])
        self.show(f"{human_bytes(4 * event['elements'])}, "
                  f"{event['rounds']} rounds", total=total, completed=done)
