# SPDX-License-Identifier: Apache-2.0
"""The costs of an allreduce: CPU time, bytes on the network, memory."""
from collections.abc import Mapping, Sequence

from . import figures
from .experiment import Experiment, Part, Results
from .page import Page, number

_ALGORITHMS = (figures.RING, "halving_doubling", "transpose", *figures.BOUNDED)
_MIB = 1 << 20
_LAB_FLOATS = (262144, 1000000)  # 1 and 4 MB
_LARGE = 16777216  # 64 MiB
_LOOPBACK_RANKS = 4
_START_S = 2  # processes and their connections, on loopback
# About, with _LOOPBACK_RANKS on two cores.
_LOOPBACK_S_PER_FLOAT = 1.5e-8
_LAB, _LOOPBACK, _ALONE = "lab", "loopback", "alone"


def _loopback(name: str, algorithms: Sequence[str], floats: Sequence[int],
              seconds: float) -> Part:
    bounded = sum(name in figures.BOUNDED for name in algorithms)
    return Part(
        name, ("benchmark/compare", "--ranks", str(_LOOPBACK_RANKS),
               "--elements", ",".join(map(str, floats)), "--seconds",
               f"{seconds:g}", "--algorithms", ",".join(algorithms)),
        _START_S + sum(len(algorithms) * seconds + bounded * elements
                       * (figures.EXACT_OPS + figures.WARMUP_MORE)
                       * _LOOPBACK_S_PER_FLOAT
                       for elements in floats))


def _alone(algorithm: str) -> str:
    """The name of the part that measures the algorithm's memory."""
    return f"{_ALONE}-{algorithm.replace(':', '-').replace('_', '-')}"


def _parts(quick: bool) -> Sequence[Part]:
    if quick:
        return [
            figures.comparison(f"{_LAB}-{_LAB_FLOATS[-1]}-floats", "clean",
                               figures.FEW, 1.5),
            *(_loopback(_alone(name), (name,), _LAB_FLOATS[-1:], 0.5)
              for name in figures.FEW)]
    every = (*_LAB_FLOATS, _LARGE)
    return [
        *(figures.comparison(f"{_LAB}-{elements}-floats", "clean", _ALGORITHMS,
                             6, 8, elements) for elements in _LAB_FLOATS),
        _loopback(_LOOPBACK, _ALGORITHMS, every, 5),
        *(_loopback(_alone(name), (name,), every, 1)
          for name in _ALGORITHMS)]


def _of_ring(row: Mapping, ring: Mapping | None, key: str) -> str:
    return f"{row[key] / ring[key]:.2f}" if ring else ""


def _size(elements: int) -> str:
    return f"{4 * elements / 1e6:.3g} MB"


def _with_ring(rows: Sequence[Mapping]) -> list[tuple[Mapping,
                                                     Mapping | None]]:
    """Each row with the ring's of the same size, by size."""
    return [(row, next((ring for ring in rows
                        if ring["algorithm"] == figures.RING
                        and ring["elements"] == row["elements"]), None))
            for row in sorted(rows, key=lambda row: row["elements"])]


def _speed(row: Mapping) -> tuple[str, ...]:
    return (number(row["p50_us"] / 1000),
            number(row["algbw_bytes_per_s"] / 1e6), str(row["iterations"]))


def _memory(row: Mapping, ring: Mapping | None) -> tuple[str, ...]:
    """Peak memory, and how much more than the ring's."""
    peak = row["peak_resident_bytes"]
    if ring is None:
        return number(peak / _MIB), "", "", ""
    more = peak - ring["peak_resident_bytes"]
    return (number(peak / _MIB), _of_ring(row, ring, "peak_resident_bytes"),
            f"{more / _MIB:.1f}", f"{more / row['bytes']:.2f}")


def _show(results: Results, page: Page) -> None:
    for name, rows in results.items():
        if name.startswith(_LAB):
            page.heading(f"In the lab, {rows[0]['ranks']} ranks, "
                         + _size(rows[0]["elements"]))
            page.table(
                ("algorithm", "CPU s/GB", "its / ring's",
                 "wire MB an iteration", "its / ring's",
                 "wire bytes / bucket's", "p50 ms", "algbw MB/s",
                 "iterations"),
                [(row["algorithm"], number(row["cpu_s_per_gb"]),
                  _of_ring(row, ring, "cpu_s_per_gb"),
                  number(row["wire_bytes_per_iteration"] / 1e6),
                  _of_ring(row, ring, "wire_bytes_per_iteration"),
                  f"{row['wire_bytes_per_iteration'] / row['bytes']:.3f}",
                  *_speed(row)) for row, ring in _with_ring(rows)])
    if _LOOPBACK in results:
        rows = results[_LOOPBACK]
        page.heading(f"CPU on loopback, {rows[0]['ranks']} ranks")
        page.table(
            ("algorithm", "bytes", "CPU s/GB", "its / ring's", "p50 ms",
             "algbw MB/s", "iterations"),
            [(row["algorithm"], _size(row["elements"]),
              number(row["cpu_s_per_gb"]),
              _of_ring(row, ring, "cpu_s_per_gb"), *_speed(row))
             for row, ring in _with_ring(rows)])
    alone = [row for name, rows in results.items() if name.startswith(_ALONE)
             for row in rows]
    if alone:
        page.heading(f"Memory on loopback, {alone[0]['ranks']} ranks")
        page.table(("algorithm", "bytes", "peak MiB", "its / ring's",
                    "more than ring's, MiB", "that / bucket's bytes"),
                   [(row["algorithm"], _size(row["elements"]),
                     *_memory(row, ring)) for row, ring in _with_ring(alone)])


EXPERIMENT = Experiment("costs", "CPU time, network and memory", _parts, _show)
