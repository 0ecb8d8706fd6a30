# SPDX-License-Identifier: Apache-2.0
"""Compares the simulator with the lab."""
from collections.abc import Mapping, Sequence

from . import figures
from .experiment import Claim, Experiment, Part, Results
from .page import Page, number

_ENVIRONMENTS = ("clean", "p1.5", "p3", "micro")
# The simulator's names for the lab's algorithms.
_SIMULATED = {figures.RING: "ring", "transpose": "transpose",
              **{name: name for name in figures.BOUNDED}}
_CLOSE = 0.15


def _parts(quick: bool) -> Sequence[Part]:
    parts = []
    for environment in ("p3",) if quick else _ENVIRONMENTS:
        parts += [
            figures.comparison(f"lab-{environment}", environment,
                               tuple(_SIMULATED), 5 if quick else 20),
            Part(f"simulated-{environment}",
                 ("benchmark/simulate", "--lab", environment, "--ranks", "8",
                  "--algorithms", ",".join(_SIMULATED.values()),
                  "--ops", "30" if quick else "100",
                  "--seeds", "1" if quick else "3"), 6 if quick else 23)]
    return parts


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


def _show(results: Results, page: Page) -> None:
    pairs = _pairs(results)
    if pairs:
        page.table(
            ("environment, algorithm", "iterations", "simulated", "lab p50 ms",
             "simulated", "lab p99 ms", "simulated", "p50, simulated / lab",
             "p99", "lab's drops an iteration"),
            [(title, str(real["iterations"]), str(simulated["iterations"]),
              number(real["p50_us"] / 1000), number(simulated["p50_ms"]),
              number(real["p99_us"] / 1000), number(simulated["p99_ms"]),
              *map(number, _ratios(real, simulated)),
              number(real.get("switch_drops_per_iteration")))
             for title, real, simulated in pairs])


def _claims(results: Results) -> list[Claim]:
    ratios = {f"{percentile} of {title}": ratio
              for title, *pair in _pairs(results)
              for percentile, ratio in zip(("p50", "p99"), _ratios(*pair))}
    if not ratios:
        return []
    apart = [f"{name} ({ratio:.2f})" for name, ratio in ratios.items()
             if abs(ratio - 1) > _CLOSE]
    return [Claim(
        "Simulated p50 and p99, of the lab's", "",
        f"each within {100 * _CLOSE:.0f} %",
        f"{len(ratios) - len(apart)} of {len(ratios)} are"
        + (f"; outside: {', '.join(apart)}" if apart else ""), not apart)]


EXPERIMENT = Experiment("validation", "The simulator against the lab", _parts,
                        _show, _claims)
