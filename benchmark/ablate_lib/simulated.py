# SPDX-License-Identifier: Apache-2.0
"""Jobs in the simulator: virtual time, and no noise but a seed's."""
from collections.abc import Mapping

from front_end.errors import EXIT_USAGE, UserError
from lab_lib import schedule
from lab_lib.environments import Environment
from lab_lib.settings import Links, Settings
from simulate_lib.simulator import TARGET, WARMUP_OPS

from .run import Run

__all__ = ["TARGET", "options_of", "run_of"]

# What the real transport has there, where the simulator's own defaults suit
# small jobs: transport_ubt/core/endpoint.h and settings.h.
_SOCKET = {"window_bytes": "2097152", "window_bytes_min": "65536",
           "arena_bytes": "268435456"}
_HEADERS = 28 + 32  # IP's and UDP's, then the protocol's
_SLOT_STEP = 32


def options_of(environment: Environment, seed: int, elements: int,
               ops: int) -> dict[str, str]:
    """tests/sim/sim_options.h's, by name, of `ops` bounded ops on as many hosts
    and links as the lab has if nothing else is asked for."""
    hosts, links = Settings.hosts, Links()
    if environment.flows:
        raise UserError(f"{environment.name}: the simulator knows no TCP "
                        "flows; try --in lab", EXIT_USAGE)
    slot = (links.mtu - _HEADERS) // _SLOT_STEP * _SLOT_STEP
    options = {
        "seed": seed, "ranks": hosts, "one_shape": 1,
        "elements_max": elements, "ops": ops + WARMUP_OPS,
        "warmup_ops": WARMUP_OPS, "slot_bytes": slot,
        "bytes_per_second": links.rate_mbit * 1e6 / 8,
        "queue_bytes": links.queue_bytes, "loss": environment.loss}
    bursts = environment.bursts
    if bursts:
        options |= {
            "burst_every_ns": _ns(bursts.period_s),
            "burst_least_ns": _ns(bursts.seconds[0]),
            "burst_most_ns": _ns(bursts.seconds[1]),
            "burst_sources": bursts.sources, "burst_share": bursts.share}
    late = schedule.late(environment, seed, hosts)
    if late:
        options |= {"late_rank": late.host, "late_ops": late.share,
                    "late_by_ns": _ns(late.seconds)}
    return {name: str(value) for name, value in options.items()} | _SOCKET


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)


def run_of(report: Mapping, options: str) -> Run:
    """Of what `measure` prints of options, as simulator.text_of() gives them."""
    failed = broken = ""
    if report["errors"]:
        failed = report["errors"][0]
    if report["violations"]:
        failed = report["violations"][0]
        broken = (
            "the simulated protocol breaks a promise of docs/semantics.md: "
            f"{failed}. See it again with bazel run //tests/sim:explore -- "
            f"--replay --options '{options}'")
    return Run(report["op_ms"], report["loss_fraction"],
               report["drift_fraction"], report["mse"], report["worst_se"],
               failed, broken)
