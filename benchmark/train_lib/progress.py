# SPDX-License-Identifier: Apache-2.0
"""Shows the progress of the trainings."""
from front_end.progress import Bar


class Progress(Bar):
    """Progress over the steps of all runs, which have the same length."""

    def __init__(self, runs: int) -> None:
        super().__init__()
        self._runs = runs

    def begin(self, run: int, name: str) -> None:
        """Run number `run`, counted from 0, starts its ranks."""
        self._run = run
        self._name = name
        self._values: dict[str, str] = {}
        self.show(f"{name}: starting")

    def take(self, line: dict) -> None:
        """Takes each line of the log."""
        if "steps" in line:
            self._steps = line["steps"]
            return
        for value, text in (("loss", "loss {:.3f}"),
                            ("accuracy", "accuracy {:.3f}")):
            if value in line:
                self._values[value] = text.format(line[value])
        self.show(
            ", ".join([f"{self._name}: step {line['step']}/{self._steps}",
                       *self._values.values()]),
            total=self._runs * self._steps,
            completed=self._run * self._steps + line["step"])
