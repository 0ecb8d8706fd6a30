# SPDX-License-Identifier: Apache-2.0
"""Formats runs as a text table."""
from collections.abc import Sequence

from front_end.columns import align, three_digits


def _lost(run: dict) -> str:
    return "" if run["lost"] is None else f"{100 * run['lost']:.2g} %"


def _divergence(run: dict) -> str:
    return f"{run['divergence']:.1e}" if run["divergence"] else "0"


# Heading, text of a run. The first column is a word, the others numbers.
_COLUMNS = (
    ("algorithm", lambda run: run["algorithm"]),
    ("seed", lambda run: str(run["seed"])),
    ("steps", lambda run: str(run["steps"])),
    ("seconds", lambda run: f"{run['seconds']:.1f}"),
    ("ms a step", lambda run: three_digits(run["ms_per_step"])),
    ("loss", lambda run: f"{run['loss']:.3f}"),
    ("accuracy", lambda run: f"{100 * run['accuracy']:.2f} %"),
    ("lost", _lost),
    ("divergence", _divergence),
)


def render(runs: Sequence[dict]) -> str:
    return "\n".join(align(
        [[heading for heading, _ in _COLUMNS]]
        + [[text(run) for _, text in _COLUMNS] for run in runs], 1)) + "\n"
