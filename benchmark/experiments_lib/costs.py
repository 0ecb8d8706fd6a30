# SPDX-License-Identifier: Apache-2.0
"""The costs of an allreduce: CPU time, bytes on the network, memory."""
from collections.abc import Mapping, Sequence
from typing import Any

from . import in_lab
from .experiment import Experiment, Part, Results
from .markdown import number, table
from .pictures import Pictures

_ALGORITHMS = (in_lab.RING, "halving_doubling", "transpose", *in_lab.BOUNDED)
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
    bounded = sum(name in in_lab.BOUNDED for name in algorithms)
    return Part(
        name, ("benchmark/compare", "--ranks", str(_LOOPBACK_RANKS),
               "--elements", ",".join(map(str, floats)), "--seconds",
               f"{seconds:g}", "--algorithms", ",".join(algorithms)),
        _START_S + sum(len(algorithms) * seconds + bounded * elements
                       * (in_lab.EXACT_OPS + in_lab.WARMUP_MORE)
                       * _LOOPBACK_S_PER_FLOAT
                       for elements in floats))


def _alone(algorithm: str) -> str:
    """The name of the part that measures the algorithm's memory."""
    return f"{_ALONE}-{algorithm.replace(':', '-').replace('_', '-')}"


def _parts(quick: bool) -> Sequence[Part]:
    if quick:
        return [
            in_lab.comparison(f"{_LAB}-{_LAB_FLOATS[-1]}-floats", "clean",
                              in_lab.FEW, 1.5),
            *(_loopback(_alone(name), (name,), _LAB_FLOATS[-1:], 0.5)
              for name in in_lab.FEW)]
    every = (*_LAB_FLOATS, _LARGE)
    return [
        *(in_lab.comparison(f"{_LAB}-{elements}-floats", "clean", _ALGORITHMS,
                            6, 8, elements) for elements in _LAB_FLOATS),
        _loopback(_LOOPBACK, _ALGORITHMS, every, 5),
        *(_loopback(_alone(name), (name,), every, 1)
          for name in _ALGORITHMS)]


def _of_ring(row: Mapping, ring: Mapping | None, key: str) -> str:
    return f"{row[key] / ring[key]:.2f}" if ring else ""


def _size(elements: int) -> str:
    return f"{4 * elements / 1e6:.3g} MB"


def _network(rows: Sequence[Mapping]) -> str:
    """The table of the lab's rows, one size."""
    ring = in_lab.of(rows, in_lab.RING)
    return table(
        ("algorithm", "CPU s/GB", "its / ring's", "wire MB an iteration",
         "its / ring's", "wire bytes / bucket's", "p50 ms", "algbw MB/s",
         "iterations"),
        [(row["algorithm"], number(row["cpu_s_per_gb"]),
          _of_ring(row, ring, "cpu_s_per_gb"),
          number(row["wire_bytes_per_iteration"] / 1e6),
          _of_ring(row, ring, "wire_bytes_per_iteration"),
          f"{row['wire_bytes_per_iteration'] / row['bytes']:.3f}",
          number(row["p50_us"] / 1000),
          number(row["algbw_bytes_per_s"] / 1e6), str(row["iterations"]))
         for row in rows])


def _sizes(rows: Sequence[Mapping]) -> list[list[Mapping]]:
    """The rows of each size."""
    return [[row for row in rows if row["elements"] == elements] for elements
            in dict.fromkeys(row["elements"] for row in rows)]


def _cpu(rows: Sequence[Mapping]) -> str:
    """The table of loopback's rows, all sizes."""
    return table(
        ("algorithm", "bytes", "CPU s/GB", "its / ring's", "p50 ms",
         "algbw MB/s", "iterations"),
        [(row["algorithm"], _size(row["elements"]),
          number(row["cpu_s_per_gb"]),
          _of_ring(row, in_lab.of(own, in_lab.RING), "cpu_s_per_gb"),
          number(row["p50_us"] / 1000),
          number(row["algbw_bytes_per_s"] / 1e6), str(row["iterations"]))
         for own in _sizes(rows) for row in own])


def _memory(rows: Sequence[Mapping]) -> str:
    """The table of runs with one algorithm each."""
    lines = []
    for own in _sizes(rows):
        ring = in_lab.of(own, in_lab.RING)
        for row in own:
            peak = row["peak_resident_bytes"]
            more = peak - ring["peak_resident_bytes"] if ring else None
            lines.append((
                row["algorithm"], _size(row["elements"]), number(peak / _MIB),
                _of_ring(row, ring, "peak_resident_bytes"),
                "" if more is None else f"{more / _MIB:.1f}",
                "" if more is None else f"{more / row['bytes']:.2f}"))
    return table(("algorithm", "bytes", "peak MiB", "its / ring's",
                  "more than ring's, MiB", "that / bucket's bytes"), lines)


def _tell(results: Results, pictures: Pictures) -> str:
    text = ""
    for name, rows in results.items():
        if name.startswith(_LAB):
            text += (f"### In the lab, {rows[0]['ranks']} ranks, "
                     f"{_size(rows[0]['elements'])}\n\n{_network(rows)}")
    if _LOOPBACK in results:
        rows = results[_LOOPBACK]
        text += (f"### CPU on loopback, {rows[0]['ranks']} ranks\n\n"
                 + _cpu(rows))
    alone = [row for name, rows in results.items() if name.startswith(_ALONE)
             for row in rows]
    if alone:
        text += (f"### Memory on loopback, {alone[0]['ranks']} ranks\n\n"
                 "The largest process has had so much resident, at most, since "
                 "it began, with one algorithm a run and sizes that grow. Of "
                 "each process 20 bytes a float are the comparison's own: "
                 "inputs, results, and what these are checked with.\n\n"
                 + _memory(sorted(alone, key=lambda row: row["elements"])))
    return text


EXPERIMENT = Experiment(
    "costs", "What it costs",
    "What do CPU time, the network's load and memory of each algorithm come "
    f"to, beside those of Gloo's ring ({in_lab.RING})? CPU seconds are those "
    "of all ranks, by rank and 1e9 bytes of a bucket, kernel included; bytes "
    "on the wire are what a rank sends over its link, with all headers, "
    "acknowledgements and repetitions.",
    _parts, _tell)
