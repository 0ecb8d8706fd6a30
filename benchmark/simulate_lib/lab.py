# SPDX-License-Identifier: Apache-2.0
"""The lab's hosts and links, in the simulator."""
from front_end.errors import EXIT_USAGE, UserError
from lab_lib import schedule
from lab_lib.environments import Environment
from lab_lib.settings import Links, Settings

# Defaults of the real transport (transport_ubt/core/session/endpoint.h and
# settings.h). The simulator's own defaults are for small jobs.
_SOCKET = {"window_bytes": 2097152, "window_bytes_min": 65536,
           "arena_bytes": 268435456}
_HEADERS = 28 + 32  # IP's and UDP's, then the protocol's
_SLOT_STEP = 32


def slot_bytes(mtu: int) -> int:
    """The payload of one packet of the protocol."""
    return (mtu - _HEADERS) // _SLOT_STEP * _SLOT_STEP


def why_not(environment: Environment) -> str | None:
    """Why the environment cannot be simulated; None if it can."""
    if environment.flows:
        return "the simulator knows no TCP flows"
    if environment.lateness and environment.lateness.anyone:
        return "in the simulator one rank is late, always the same"
    return None


def options_of(environment: Environment, seed: int, elements: int, ops: int,
               ranks: int = Settings.hosts) -> dict[str, object]:
    """Options of transport_ubt/sim/sim_options.h, by name, for `ops` ops
    including warm-up, on the lab's default links.

    Raises UserError if the simulator does not support the environment.
    """
    links = Links()
    why = why_not(environment)
    if why:
        raise UserError(f"{environment.name}: {why}; try --in lab", EXIT_USAGE)
    options: dict[str, object] = {
        "seed": seed, "ranks": ranks, "one_shape": 1,
        "elements_max": elements, "ops": ops,
        "slot_bytes": slot_bytes(links.mtu),
        "bytes_per_second": links.rate_mbit * 1e6 / 8,
        "queue_bytes": links.queue_bytes, "loss": environment.loss}
    bursts = environment.bursts
    if bursts:
        options |= {
            "burst_every_ns": _ns(bursts.period_s),
            "burst_least_ns": _ns(bursts.seconds[0]),
            "burst_most_ns": _ns(bursts.seconds[1]),
            "burst_sources": bursts.sources, "burst_share": bursts.share}
    late = schedule.late(environment, seed, ranks)
    if late:
        options |= {"late_rank": late.host, "late_ops": late.share,
                    "late_by_ns": _ns(late.seconds)}
    return options | _SOCKET


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)
