# SPDX-License-Identifier: Apache-2.0
"""Network problems, by name. docs/lab.md has the table."""
import argparse
import dataclasses

from front_end.options import unknown

ONE, ANY, EACH = "one", "any", "each"  # of Lateness


@dataclasses.dataclass(frozen=True)
class Bursts:
    """Once in every period, at a random time, some hosts send to one host.

    The datagrams of each take the given share of the link rate.
    """

    period_s: float
    seconds: tuple[float, float]  # shortest, longest
    sources: int
    share: float


@dataclasses.dataclass(frozen=True)
class Lateness:
    """Ranks compute for longer, in a share of the iterations."""

    share: float
    seconds: float
    # ONE rank; ANY: in each such iteration another one; EACH for itself, in a
    # share of its own iterations.
    who: str = ONE


@dataclasses.dataclass(frozen=True)
class Stalls:
    """Each host stands still at random times, independent of the others: its
    link, or its processes. The time between two stalls is exponential."""

    gap_s: float  # mean, from the end of one to the start of the next
    seconds: tuple[float, float]  # shortest, longest
    processes: bool = False


@dataclasses.dataclass(frozen=True)
class Environment:
    name: str
    what: str
    bursts: Bursts | None = None
    loss: float = 0  # share of packets that the switch loses
    flows: int = 0  # TCP flows that send as much as they can to one host
    lateness: Lateness | None = None
    stalls: Stalls | None = None
    # The allowed range of ring_chunked's P99/50, at 1,000,000 floats.
    tail: tuple[float, float] | None = None

    @property
    def hosts_min(self) -> int:
        return 1 + max(self.bursts.sources if self.bursts else 0,
                       self.flows, 1 if self.lateness else 0)


ENVIRONMENTS = {environment.name: environment for environment in (
    Environment("clean", "nobody else", tail=(1.0, 1.25)),
    Environment("p1.5", "a short burst at times: the ring's P99/50 is 1.5",
                bursts=Bursts(1.0, (0.100, 0.120), 1, 0.5), tail=(1.25, 1.75)),
    Environment("p3", "a long burst at times: the ring's P99/50 is 3",
                bursts=Bursts(2.0, (0.380, 0.430), 2, 0.344), tail=(2.5, 3.5)),
    Environment("micro", "short bursts everywhere, all the time",
                bursts=Bursts(0.020, (0.005, 0.015), 2, 0.86)),
    Environment("straggler", "one rank computes 300 ms longer at times",
                lateness=Lateness(0.1, 0.3)),
    Environment("varying", "some rank, each time another, computes 300 ms "
                "longer at times", lateness=Lateness(0.1, 0.3, ANY)),
    Environment("varying10", "each rank computes 300 ms longer in a tenth of "
                "its own iterations", lateness=Lateness(0.1, 0.3, EACH)),
    Environment("jitter", "each rank computes 8 ms longer in half of its own "
                "iterations", lateness=Lateness(0.5, 0.008, EACH)),
    Environment("stalls1.5", "each link stands still for a short time now and "
                "then", stalls=Stalls(0.640, (0.010, 0.060))),
    Environment("stalls3", "each link stands still for a longer time now and "
                "then", stalls=Stalls(2.000, (0.050, 0.150))),
    Environment("paused", "the processes of each host are stopped now and "
                "then", stalls=Stalls(0.530, (0.010, 0.060), processes=True)),
    Environment("lossy", "a thousandth of all packets is lost", loss=0.001),
    Environment("mixed", "a TCP flow sends all it can, all the time", flows=1),
)}


def parse(text: str) -> Environment:
    """A `type` for argparse: "p3", or "lossy:0.05" for another lost share."""
    name, colon, share = text.partition(":")
    if name not in ENVIRONMENTS:
        raise argparse.ArgumentTypeError(unknown(name, ENVIRONMENTS))
    if not colon:
        return ENVIRONMENTS[name]
    try:
        loss = float(share)
    except ValueError:
        loss = 0.0
    if name != "lossy" or not 0 < loss < 1:
        raise argparse.ArgumentTypeError(
            f"'{text}': only lossy takes a share of packets to lose, from "
            "above 0 to below 1; write for example lossy:0.05")
    return dataclasses.replace(
        ENVIRONMENTS[name], name=text, loss=loss,
        what=f"{100 * loss:g} % of all packets are lost")
