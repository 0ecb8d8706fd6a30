# SPDX-License-Identifier: Apache-2.0
"""A process that computes longer at times."""
from collections.abc import Mapping, Sequence
from typing import Any

from . import in_lab
from .experiment import Experiment, Part, Results
from .pictures import Pictures, distributions


def _parts(quick: bool) -> Sequence[Part]:
    return [in_lab.comparison("late-rank", "straggler", in_lab.FEW,
                              6 if quick else 30)]


def _tell(results: Results, pictures: Pictures) -> str:
    rows = results["late-rank"]
    return (pictures.draw("stragglers", "Times beside a straggler",
                          [("8 ranks", distributions(rows))])
            + "\n" + in_lab.times(rows))


EXPERIMENT = Experiment(
    "stragglers", "Processes that straggle",
    "One rank computes 300 ms longer in one of ten iterations. How long do the "
    "other ranks take for theirs?", _parts, _tell)
