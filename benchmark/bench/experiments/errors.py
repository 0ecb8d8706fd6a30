# SPDX-License-Identifier: Apache-2.0
"""Errors of sums for different losses: in arithmetic, and of the protocol
itself in the simulator."""
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from .. import plot
from .arithmetic import SHARDS
from .experiment import Claim, Experiment, Part, Results
from .page import Page, share

_ALGORITHMS = tuple(SHARDS)
_PATTERNS = ("random", "tail")
_SHARES = ("0.01", "0.02", "0.05", "0.1")
_POLICIES = ("none", "broadcast")
# The papers' mean squared errors, without Hadamard, in their unit.
_PAPERS = {"ring": 14.55, "parameter_server": 9.92, "transpose": 2.47}
_CLOSE_UP = 0.05  # the share of packets for the table of remedies
# Whether contributions are transformed: never, by default, always.
_TRANSFORMED = ("+hadamard=off", "", "+hadamard=on")
# The simulator's ranks contribute independent values, with almost no signal.
_INDEPENDENT_NOISE = "1000000"
_ALIKE = 0.2  # smaller relative differences count as equal


def _arithmetic(name: str, size: Sequence[str], seconds: float,
                *more: str) -> Part:
    return Part(name, ("python", "-m", "bench.experiments.arithmetic", *size,
                       "--loss", ",".join(_SHARES), *more), seconds)


def _simulated(policy: str, loss: str, size: Sequence[str],
               seconds: float) -> Part:
    return Part(
        f"ours-{policy}-{loss}",
        ("benchmark/simulate", "--lab", f"lossy:{loss}" if float(loss)
         else "clean", "--ranks", "8", "--errors", "--algorithms",
         ",".join(f"optireduce:{policy}{more}" for more in _TRANSFORMED),
         *size, "--ops", "10"), seconds, says_failures=True)


def _parts(quick: bool) -> Sequence[Part]:
    size = ("--elements", "100000", "--seeds", "2") if quick else (
        "--elements", "1000000", "--seeds", "3")
    return [
        _arithmetic("arithmetic", size, 5 if quick else 32),
        _arithmetic("independent", size, 1 if quick else 2, "--as-shipped",
                    "--noise", _INDEPENDENT_NOISE),
        *(_simulated(policy, loss, size, 2 if quick else 12)
          for policy in _POLICIES
          for loss in (_SHARES[2:3] if quick else ("0", *_SHARES)))]


def _error(value: float) -> str:
    return f"{value:.2g}" if value < 100 else f"{value:.0f}"


def _of(rows: Sequence[Mapping], **wanted: Any) -> list[Mapping]:
    return [row for row in rows
            if all(row[name] == value for name, value in wanted.items())]


def _as_shipped(rows: Sequence[Mapping], algorithm: str,
                pattern: str) -> list[Mapping]:
    """The protocol's default: rescaled and filled, plain."""
    return [row for row in _of(rows, algorithm=algorithm, pattern=pattern,
                               hadamard=False, rescales=True)
            if row["fill"] != "zero"]


def _panel(curves: Mapping[str, list[tuple[float, Any]]]) -> plot.Paint:
    """Curves of (share of packets, mean squared error)."""
    return plot.curves({name: [(100 * loss, mse) for loss, mse in points]
                        for name, points in curves.items()},
                       "packets lost, %", "mean squared error", log=True)


def _ours(results: Results) -> dict[str, dict[float, Mapping]]:
    """Rows of the protocol by algorithm, with settings, and share of
    packets; without those of failed jobs."""
    found: dict[str, dict[float, Mapping]] = {}
    for name, rows in results.items():
        if name.startswith("ours-"):
            for row in rows:
                found.setdefault(row["algorithm"], {})[
                    float(name.rpartition("-")[2])] = row
    return {name: {loss: row for loss, row in own.items()
                   if row["failed"] is None} for name, own in found.items()}


def _picture(results: Results, page: Page) -> None:
    rows, ours = results.get("arithmetic"), _ours(results)
    panels = []
    if rows:
        panels = [(f"{pattern} losses, arithmetic", _panel(
            {name: [(row["loss"], row["mse"])
                    for row in _as_shipped(rows, name, pattern)]
             for name in _ALGORITHMS})) for pattern in _PATTERNS]
    if ours:
        curves = {"transpose": [(row["loss"], row["mse"])
                                for row in results.get("independent", ())]}
        curves |= {name: [(loss, [seed["mse"] for seed in row["by_seed"]])
                          for loss, row in sorted(own.items()) if loss]
                   for name, own in ours.items() if "+" not in name}
        panels.append(("ours, independent inputs", _panel(curves)))
    if panels:
        page.picture("errors", "Errors by share of packets lost", panels)


def _by_share(rows: Sequence[Mapping], page: Page) -> None:
    lines = []
    for pattern in _PATTERNS:
        columns = [_as_shipped(rows, name, pattern) for name in _ALGORITHMS]
        for own in zip(*columns):
            least = own[-1]["mse"]
            lines.append((f"{pattern}, {share(own[0]['loss'])}",
                          *(_error(row["mse"]) for row in own),
                          *(f"{row['mse'] / least:.1f}" for row in own[:-1])))
    page.table(("losses", *_ALGORITHMS, "ring / transpose",
                "parameter_server / transpose"), lines)


def _remedies(rows: Sequence[Mapping], page: Page) -> None:
    lines = []
    for row in _of(rows, pattern="random", loss=_CLOSE_UP):
        tail, = _of(rows, **{**{name: row[name] for name in (
            "algorithm", "loss", "hadamard", "rescales", "fill")},
                             "pattern": "tail"})
        lines.append((row["algorithm"], "on" if row["hadamard"] else "off",
                      "on" if row["rescales"] else "off", row["fill"],
                      *(text for own in (row, tail) for text in (
                          _error(own["mse"]), _error(own["worst_se"]),
                          f"{100 * own['bias']:.1f} %"))))
    page.heading(f"Remedies, with {share(_CLOSE_UP)} of packets lost")
    page.table(("algorithm", "hadamard", "rescale", "fill", "random: mse",
                "worst", "bias", "tail: mse", "worst", "bias"), lines)


def _ratios(rows: Sequence[Mapping], pattern: str) -> dict[str, float]:
    """Each algorithm's error over the transpose's; geometric means over
    shares."""
    least = _as_shipped(rows, "transpose", pattern)
    return {name: statistics.geometric_mean(
        row["mse"] / other["mse"] for row, other
        in zip(_as_shipped(rows, name, pattern), least))
            for name in _ALGORITHMS}


def _proportion(values: Mapping[str, float]) -> str:
    least = values["transpose"]
    return " : ".join(f"{values[name] / least:.1f}" for name in _ALGORITHMS)


def _claims(results: Results) -> list[Claim]:
    rows = results.get("arithmetic")
    if not rows:
        return []
    ratios = {pattern: _ratios(rows, pattern) for pattern in _PATTERNS}
    papers = ", ".join(f"{value:g}" for value in _PAPERS.values())
    return [Claim(
        "Errors of ring : parameter server : transpose, when packets are lost",
        f"{_proportion(_PAPERS)} ({papers})",
        f"in that order, each {1 + _ALIKE:g} times the next at least",
        "; ".join(f"{_proportion(own)} ({pattern})"
                  for pattern, own in ratios.items()),
        all(own[worse] > (1 + _ALIKE) * own[better]
            for own in ratios.values()
            for worse, better in zip(_ALGORITHMS, _ALGORITHMS[1:])))]


def _our_table(results: Results, page: Page) -> None:
    ours, lines = _ours(results), []
    for policy in _POLICIES:
        name = f"optireduce:{policy}"
        never, default, always = (ours.get(name + more, {})
                                  for more in _TRANSFORMED)
        for loss in sorted({*never, *default, *always}):
            own = default.get(loss)
            lines.append((
                name, share(loss),
                *((_error(own["mse"]), share(own["loss_fraction"]),
                   share(own["drift_fraction"])) if own else ("",) * 3),
                *(_error(rows[loss]["worst_se"]) if loss in rows else ""
                  for rows in (never, default, always))))
    # Its inputs have another distribution, so worst entries do not compare.
    lines += [("transpose, in arithmetic", share(row["loss"]),
               _error(row["mse"]), *("",) * 5)
              for row in results.get("independent", ())]
    page.heading("Ours, simulated")
    page.table(("algorithm", "packets lost", "mse", "pairs lacking",
                "filled in", "worst: never transformed",
                "while much is lost (default)", "always"), lines)


def _show(results: Results, page: Page) -> None:
    _picture(results, page)
    rows = results.get("arithmetic")
    if rows:
        _by_share(rows, page)
        _remedies(rows, page)
    if any(name.startswith("ours-") for name in results):
        _our_table(results, page)


EXPERIMENT = Experiment("errors", "The error of the sum", _parts, _show,
                        _claims)
