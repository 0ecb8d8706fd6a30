# SPDX-License-Identifier: Apache-2.0
"""Compares the simulator with the lab."""
from collections.abc import Mapping, Sequence
from typing import Any

from . import in_lab
from .experiment import Claim, Experiment, Part, Results
from .markdown import number, table
from .pictures import Pictures

_ENVIRONMENTS = ("clean", "p1.5", "p3", "micro")
# The simulator's names for the lab's algorithms.
_SIMULATED = {in_lab.RING: "ring", "transpose": "transpose",
              "optireduce:none": "optireduce:none",
              "optireduce:broadcast": "optireduce:broadcast"}
_CLOSE = 0.15


def _simulation(environment: str, quick: bool) -> Part:
    return Part(
        f"simulated-{environment}",
        ("benchmark/simulate", "--lab", environment, "--ranks", "8",
         "--algorithms", ",".join(_SIMULATED.values()),
         "--ops", "30" if quick else "100",
         "--seeds", "1" if quick else "3"), 6 if quick else 23)


def _parts(quick: bool) -> Sequence[Part]:
    environments = ("p3",) if quick else _ENVIRONMENTS
    return [part for environment in environments for part in (
        in_lab.comparison(f"lab-{environment}", environment,
                          tuple(_SIMULATED), 5 if quick else 20),
        _simulation(environment, quick))]


def _pairs(results: Results) -> list[tuple[str, Mapping, Mapping]]:
    """The lab's row and the simulator's, for each environment and algorithm
    that both have."""
    pairs = []
    for environment in _ENVIRONMENTS:
        real, simulated = (
            {row["algorithm"]: row for row in results.get(name, ())}
            for name in (f"lab-{environment}", f"simulated-{environment}"))
        pairs += [(f"{environment}, {other}", real[name], simulated[other])
                  for name, other in _SIMULATED.items()
                  if name in real and other in simulated]
    return pairs


def _ratios(real: Mapping, simulated: Mapping) -> list[float]:
    """Simulated over real, of p50 and p99."""
    return [1000 * simulated[f"{name}_ms"] / real[f"{name}_us"]
            for name in ("p50", "p99")]


def _tell(results: Results, pictures: Pictures) -> str:
    del pictures
    pairs = _pairs(results)
    if not pairs:
        return ""
    return table(
        ("environment, algorithm", "iterations", "simulated", "lab p50 ms",
         "simulated", "lab p99 ms", "simulated", "p50, simulated / lab",
         "p99", "lab's drops an iteration"),
        [(title, str(real["iterations"]), str(simulated["iterations"]),
          number(real["p50_us"] / 1000), number(simulated["p50_ms"]),
          number(real["p99_us"] / 1000), number(simulated["p99_ms"]),
          *map(number, _ratios(real, simulated)),
          number(real.get("switch_drops_per_iteration")))
         for title, real, simulated in pairs]) + (
        f"Of fewer than {in_lab.FOR_P99} iterations the slowest stands for a "
        "p99, and bursts that came or did not move it.\n\n")


def _claims(results: Results) -> list[Claim]:
    ratios = {f"{percentile} of {title}": ratio
              for title, *pair in _pairs(results)
              for percentile, ratio in zip(("p50", "p99"), _ratios(*pair))}
    if not ratios:
        return []
    apart = {name: ratio for name, ratio in ratios.items()
             if abs(ratio - 1) > _CLOSE}
    worst = max(ratios, key=lambda name: abs(ratios[name] - 1))
    return [Claim(
        "Simulated p50 and p99, of the lab's", "",
        f"each within {100 * _CLOSE:.0f} %",
        f"{len(ratios) - len(apart)} of {len(ratios)} are; at worst "
        f"{ratios[worst]:.2f} ({worst})", not apart,
        "not are " + ", ".join(f"{name} ({ratio:.2f})"
                               for name, ratio in apart.items())
        + ". The simulator's connections lose nothing: where TCP's do (see "
        "the lab's drops), it takes longer in the lab. "
        + ("That is no reason for optireduce's: none is known. "
           if any("optireduce" in name for name in apart) else "")
        + "And each is of one run there; how far two such differ was not "
        "measured here.")]


EXPERIMENT = Experiment(
    "validation", "The simulator against the lab",
    "Does a simulated network say what a real one says? 8 ranks, 500 Mbit/s, "
    "1,000,000 floats; the same bursts, drawn anew. The lab's ring is "
    "Gloo's ring_chunked over TCP, the simulator's one over ideal "
    "connections; how much of a full queue such a connection has was chosen so "
    "that among bursts it takes what the lab's does. optireduce is the same "
    "code in both.",
    _parts, _tell, _claims)
