# SPDX-License-Identifier: Apache-2.0
"""Errors of sums for different losses, in arithmetic."""
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from .. import plot
from .arithmetic import PATTERNS, SHARDS
from .experiment import Claim, Experiment, Part, Results
from .page import Page, share

_PART = "arithmetic"
_SHARES = ("0.01", "0.02", "0.05", "0.1")
# The papers' mean squared errors, without Hadamard, in their unit.
_PAPERS = {"ring": 14.55, "parameter_server": 9.92, "transpose": 2.47}
_CLOSE_UP = 0.05  # the share of packets for the table of transforms
_ALIKE = 0.2  # smaller relative differences count as equal


def _parts(quick: bool) -> Sequence[Part]:
    size = ("--elements", "100000", "--seeds", "2") if quick else (
        "--elements", "1000000", "--seeds", "3")
    return [Part(_PART, ("python", "-m", "bench.experiments.arithmetic", *size,
                         "--loss", ",".join(_SHARES)), 5 if quick else 30)]


def _error(value: float) -> str:
    return f"{value:.2g}" if value < 100 else f"{value:.0f}"


def _of(rows: Sequence[Mapping], **wanted: Any) -> list[Mapping]:
    return [row for row in rows
            if all(row[name] == value for name, value in wanted.items())]


def _plain(rows: Sequence[Mapping], pattern: str) -> list[list[Mapping]]:
    """The untransformed rows of each algorithm, by share."""
    return [_of(rows, algorithm=name, pattern=pattern, hadamard=False)
            for name in SHARDS]


def _panel(rows: Sequence[Mapping], pattern: str) -> plot.Paint:
    return plot.curves(
        {own[0]["algorithm"]: [(100 * row["loss"], row["mse"]) for row in own]
         for own in _plain(rows, pattern)},
        "packets lost, %", "mean squared error", log=True)


def _show(results: Results, page: Page) -> None:
    rows = results[_PART]
    page.picture("errors", "Errors by share of packets lost", [
        (f"{pattern} losses", _panel(rows, pattern)) for pattern in PATTERNS])
    page.table(
        ("losses", *SHARDS, "ring / transpose",
         "parameter_server / transpose"),
        [(f"{pattern}, {share(own[0]['loss'])}",
          *(_error(row["mse"]) for row in own),
          *(f"{row['mse'] / own[-1]['mse']:.1f}" for row in own[:-1]))
         for pattern in PATTERNS for own in zip(*_plain(rows, pattern))])
    page.heading(f"Hadamard, with {share(_CLOSE_UP)} of packets lost")
    page.table(
        ("algorithm", "hadamard", "random: mse", "worst", "tail: mse",
         "worst"),
        [(name, "on" if hadamard else "off",
          *(_error(row[key]) for row in _of(rows, algorithm=name,
                                            hadamard=hadamard, loss=_CLOSE_UP)
            for key in ("mse", "worst_se")))
         for name in SHARDS for hadamard in (False, True)], words=2)


def _proportion(errors: Sequence[float]) -> str:
    return " : ".join(f"{error / errors[-1]:.1f}" for error in errors)


def _claims(results: Results) -> list[Claim]:
    # Geometric means over shares.
    means = {pattern: [statistics.geometric_mean(row["mse"] for row in own)
                       for own in _plain(results[_PART], pattern)]
             for pattern in PATTERNS}
    papers = list(_PAPERS.values())
    return [Claim(
        "Errors of ring : parameter server : transpose, when packets are lost",
        f"{_proportion(papers)} ({', '.join(f'{mse:g}' for mse in papers)})",
        f"in that order, each {1 + _ALIKE:g} times the next at least",
        "; ".join(f"{_proportion(own)} ({pattern})"
                  for pattern, own in means.items()),
        all(worse > (1 + _ALIKE) * better for own in means.values()
            for worse, better in zip(own, own[1:])))]


EXPERIMENT = Experiment("errors", "The error of the sum", _parts, _show,
                        _claims)
