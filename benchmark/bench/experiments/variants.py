# SPDX-License-Identifier: Apache-2.0
"""Variants of the bounded allreduce in the lab: results by multicast, ranks in
groups, and transformed shards."""
from collections.abc import Callable, Mapping, Sequence

from . import figures
from .experiment import Claim, Experiment, Part, Results
from .page import Page, number, share

_AUTHENTIC = "optireduce+auth=full"  # as multicast needs
_MULTICAST = f"{_AUTHENTIC}+multicast=auto"
_GROUPS = "hierarchical_optireduce"
_NONE = "optireduce:none"
_PLAIN, _TRANSFORMED = (f"{_NONE}+hadamard={when}"
                        for when in ("off", "on"))
# By the name of a part: its environment and algorithms.
_PAIRS = {"multicast": ("clean", (_AUTHENTIC, _MULTICAST)),
          "groups-clean": ("clean", ("optireduce", _GROUPS)),
          "groups-p3": ("p3", ("optireduce", _GROUPS)),
          "hadamard": ("p3", (_PLAIN, _TRANSFORMED))}
_BYTES_MOST = 0.6    # by multicast, over unicast
_MEDIAN_MOST = 1.03  # the same


def _parts(quick: bool) -> Sequence[Part]:
    pairs, runs, seconds = (
        (("multicast",), figures.RUNS[:1], figures.QUICK_RUN_S) if quick
        else (tuple(_PAIRS), figures.RUNS, figures.RUN_S))
    return [figures.comparison(figures.run_name(pair, run), environment,
                               (figures.RING, *names), seconds, seed=run)
            for run in runs for pair in pairs
            for environment, names in (_PAIRS[pair],)]


def _mean(rows: Sequence[Mapping], key: str) -> float:
    return figures.mean(rows, lambda row: row[key])


_COLUMNS: Sequence[tuple[str, Callable[[Sequence[Mapping]], str]]] = (
    ("p50 ms", lambda rows: number(_mean(rows, "p50_us") / 1000)),
    ("mean ms", lambda rows: number(_mean(rows, "mean_us") / 1000)),
    ("slowest tenth ms",
     lambda rows: number(_mean(rows, "slow_tenth_us") / 1000)),
    ("MB sent", lambda rows: number(
        _mean(rows, "wire_bytes_per_iteration") / 1e6)),
    ("CPU s/GB", lambda rows: number(_mean(rows, "cpu_s_per_gb"))),
    ("missing", lambda rows: share(_mean(rows, "loss_fraction"))),
    ("mse", lambda rows: number(_mean(rows, "mse"))),
    ("worst", lambda rows: number(_mean(rows, "worst_se"))))


def _show(results: Results, page: Page) -> None:
    for pair, (environment, names) in _PAIRS.items():
        found = [(name, *(text(rows) for _, text in _COLUMNS))
                 for name in (figures.RING, *names)
                 if (rows := figures.of_runs(results, pair, name))]
        if found:
            page.heading(f"{pair}, in {environment}"
                         if environment not in pair else pair)
            page.table(("algorithm", *(title for title, _ in _COLUMNS)), found)


def _claims(results: Results) -> list[Claim]:
    unicast, multicast = (figures.of_runs(results, "multicast", name)
                          for name in (_AUTHENTIC, _MULTICAST))
    if not unicast or not multicast:
        return []
    claims = []
    for what, key, most in (
            ("Bytes sent", "wire_bytes_per_iteration", _BYTES_MOST),
            ("Median time", "p50_us", _MEDIAN_MOST)):
        ratio = _mean(multicast, key) / _mean(unicast, key)
        claims.append(Claim(
            f"{what} with results by multicast, over those by unicast", "",
            f"at most {most}", f"{ratio:.3f}", ratio <= most))
    return claims


EXPERIMENT = Experiment("variants", "Multicast, groups, transformed shards",
                        _parts, _show, _claims)
