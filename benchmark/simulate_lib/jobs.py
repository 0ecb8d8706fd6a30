# SPDX-License-Identifier: Apache-2.0
"""The simulated jobs, and the rows of their results."""
import argparse
import dataclasses
import statistics
from collections.abc import Sequence

from compare_lib.percentiles import percentile, percentiles

from .lab import options_of, slot_bytes
from .simulator import text_of

# Over ideal connections, in transport_ubt/sim/message_graph.h.
EXACT = ("ring", "halving_doubling", "tree", "transpose",
         "hierarchical_transpose")
BOUNDED = {"optireduce:none": "0", "optireduce:broadcast": "1",
           "optireduce:both": "2"}
ALGORITHMS = (*EXACT, *BOUNDED)

_QUEUE_MS = 4  # capacity of a port's queue, in time
# The lateness that quiet hosts measure after the initial assumption has
# decayed. (The lab's hosts are busy and keep the assumption.)
_LATENESS_US = 100


@dataclasses.dataclass(frozen=True)
class Job:
    algorithm: str
    ranks: int
    tail: float | None  # of ways; None: the lab's
    options: dict[str, object]  # of transport_ubt/sim/sim_options.h

    @property
    def command(self) -> list[str]:
        """The command line of measure."""
        name = "optireduce" if self.algorithm in BOUNDED else self.algorithm
        return ["--algorithm", name, "--options", text_of(self.options)]


def jobs(arguments: argparse.Namespace) -> list[Job]:
    return [Job(algorithm, ranks, tail,
                _options(arguments, algorithm, ranks, tail, seed))
            for ranks in arguments.ranks
            for tail in arguments.tail or (None,)
            for algorithm in arguments.algorithms
            if why_not(arguments, algorithm, ranks) is None
            for seed in range(1, arguments.seeds + 1)]


def why_not(arguments: argparse.Namespace, algorithm: str,
            ranks: int) -> str | None:
    """Why the algorithm cannot work with this number of ranks."""
    if algorithm == "halving_doubling" and ranks & (ranks - 1):
        return "needs a power of 2 ranks"
    if (algorithm == "hierarchical_transpose"
            and ranks % arguments.groups):
        return f"needs ranks that --groups {arguments.groups} divides"
    return None


def _options(arguments: argparse.Namespace, algorithm: str, ranks: int,
             tail: float | None, seed: int) -> dict[str, object]:
    bounded = algorithm in BOUNDED
    ops = arguments.ops + (arguments.warmup if bounded else 0)
    network = (
        options_of(arguments.lab, seed, arguments.elements, ops, ranks)
        if tail is None else _network(arguments, ranks, tail, seed, ops))
    return network | {
        "no_data": 1, "warmup_ops": arguments.warmup,
        "timeout_ns": 60 * 10**9, "repair": BOUNDED.get(algorithm, "0"),
        "groups": arguments.groups
        if algorithm == "hierarchical_transpose" else 1} | (
            _bounds(arguments.bound) if bounded and arguments.bound else {})


def _bounds(us: int) -> dict[str, object]:
    return {f"bound_{stage}_ns": us * 1000
            for stage in ("scatter", "broadcast")}


def _network(arguments: argparse.Namespace, ranks: int, tail: float,
             seed: int, ops: int) -> dict[str, object]:
    per_second = arguments.gbit * 1e9 / 8
    return {
        "seed": seed, "ranks": ranks, "one_shape": 1,
        "elements_max": arguments.elements, "ops": ops,
        "slot_bytes": slot_bytes(arguments.mtu),
        "bytes_per_second": per_second,
        "queue_bytes": round(per_second * _QUEUE_MS / 1000),
        "path_delay_ns": round(arguments.latency * 1000),
        "path_tail": tail, "delay_ns": 1000,
        "path_every_ns": round(arguments.every * 1e6),
        "wakes_every_ns": round(1000 * arguments.looks),
        "lateness_ns": _LATENESS_US * 1000,
        "window_bytes": arguments.window,
        "window_bytes_min": arguments.window, "arena_bytes": 1 << 30}


def row(own: Sequence[Job], reports: Sequence[dict],
        arguments: argparse.Namespace) -> dict:
    """The row for all seeds of one job."""
    times = [ms for report in reports for ms in report["op_ms"]]
    failed = [text for report in reports
              for text in (*report["errors"], *report["violations"])]
    return {
        "algorithm": own[0].algorithm, "ranks": own[0].ranks,
        "elements": arguments.elements, "groups": arguments.groups,
        "lab": arguments.lab and arguments.lab.name, "gbit": arguments.gbit,
        "latency_us": arguments.latency, "tail": own[0].tail,
        "every_ms": arguments.every, "window_bytes": arguments.window,
        "looks_us": arguments.looks,
        "bound_us": arguments.bound if own[0].algorithm in BOUNDED else None,
        "seeds": len(own),
        "iterations": len(times), "p50_ms": percentile(times, 0.5),
        "p99_ms": percentile(times, 0.99),
        "mean_ms": statistics.mean(times) if times else None,
        "percentiles_ms": percentiles(times),
        "loss_fraction": statistics.mean(report["loss_fraction"]
                                         for report in reports),
        "cpu_seconds": sum(report["cpu_seconds"] for report in reports),
        "peak_bytes": max(report["peak_bytes"] for report in reports),
        "failed": failed[0] if failed else None}
