# SPDX-License-Identifier: Apache-2.0
"""Whether the simulator says what the lab says."""
from collections.abc import Mapping, Sequence
from typing import Any

from . import in_lab
from .experiment import Experiment, Part
from .markdown import number, table
from .pictures import Pictures

_ENVIRONMENTS = ("clean", "p1.5", "p3", "micro")
# As the simulator calls what the lab measures.
_SIMULATED = {in_lab.RING: "ring", "optireduce:none": "optireduce:none",
              "optireduce:broadcast": "optireduce:broadcast"}
_CLOSE = 0.15


def _simulation(environment: str, quick: bool) -> Part:
    return Part(
        f"simulated-{environment}",
        ("benchmark/simulate", "--lab", environment, "--ranks", "8",
         "--algorithms", ",".join(_SIMULATED.values()),
         "--ops", "30" if quick else "100",
         "--seeds", "1" if quick else "3"), 6 if quick else 35)


def _parts(quick: bool) -> Sequence[Part]:
    environments = ("p3",) if quick else _ENVIRONMENTS
    return [part for environment in environments for part in (
        in_lab.comparison(f"lab-{environment}", environment,
                          tuple(_SIMULATED), 5 if quick else 20),
        _simulation(environment, quick))]


def _ratio(simulated_ms: float, real_us: float) -> float:
    return 1000 * simulated_ms / real_us


def _rows(results: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Each with the two ratios that count as its last."""
    lines = []
    for environment in _ENVIRONMENTS:
        real = {row["algorithm"]: row
                for row in results.get(f"lab-{environment}", ())}
        simulated = {row["algorithm"]: row
                     for row in results.get(f"simulated-{environment}", ())}
        for name, other in _SIMULATED.items():
            if name not in real or other not in simulated:
                continue
            ours, theirs = simulated[other], real[name]
            lines.append((
                f"{environment}, {other}", str(theirs["iterations"]),
                str(ours["iterations"]), number(theirs["p50_us"] / 1000),
                number(ours["p50_ms"]), number(theirs["p99_us"] / 1000),
                number(ours["p99_ms"]),
                number(_ratio(ours["p50_ms"], theirs["p50_us"])),
                number(_ratio(ours["p99_ms"], theirs["p99_us"]))))
    return lines


def _tell(results: Mapping[str, Any], pictures: Pictures) -> str:
    del pictures
    rows = _rows(results)
    if not rows:
        return ""
    close = sum(abs(float(ratio) - 1) <= _CLOSE
                for row in rows for ratio in row[-2:])
    return table(
        ("environment, algorithm", "iterations", "simulated", "lab p50 ms",
         "simulated", "lab p99 ms", "simulated", "p50, simulated / lab",
         "p99"), rows) + (
        f"{close} of {2 * len(rows)} ratios are within {100 * _CLOSE:.0f} %. "
        f"Of fewer than {in_lab.FOR_P99} iterations the slowest stands for a "
        "p99, and bursts that came or did not move it.\n\n")


EXPERIMENT = Experiment(
    "validation", "The simulator against the lab",
    "Does a simulated network say what a real one says? 8 ranks, 500 Mbit/s, "
    "1,000,000 floats; the same bursts, drawn anew. The lab's ring is "
    "Gloo's ring_chunked over TCP, the simulator's one over ideal "
    "connections; optireduce is the same code in both.",
    _parts, _tell)
