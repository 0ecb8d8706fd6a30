# SPDX-License-Identifier: Apache-2.0
"""The schedule of traffic: pure functions of environment, seed and hosts."""
import dataclasses
import heapq
import random
from collections.abc import Iterator

from .environments import ONE, Environment


@dataclasses.dataclass(frozen=True)
class Burst:
    start_s: float  # since the traffic began
    seconds: float
    sources: tuple[int, ...]  # hosts
    victim: int
    bits_per_s: float  # of each source, including all headers


@dataclasses.dataclass(frozen=True)
class Flow:
    source: int
    victim: int


@dataclasses.dataclass(frozen=True)
class Late:
    """Ranks compute for longer, in a share of the iterations."""

    who: int | str  # the host, or ANY (except 0), or EACH
    share: float
    seconds: float


@dataclasses.dataclass(frozen=True)
class Stall:
    """A host stands still from now on, or no longer."""

    at_s: float  # since the traffic began
    host: int
    begins: bool


def bursts(environment: Environment, seed: int, hosts: int,
           rate_mbit: float) -> Iterator[Burst]:
    """Endless, in the order of their starts; they never overlap.

    REQUIRES an environment with bursts, and at least its hosts_min.
    """
    kind = environment.bursts
    assert kind is not None and hosts >= environment.hosts_min
    chance = _chance(environment, seed, hosts)
    period = 0
    while True:
        seconds = chance.uniform(*kind.seconds)
        start = chance.uniform(0, kind.period_s - seconds)
        victim, *sources = chance.sample(range(hosts), 1 + kind.sources)
        yield Burst(period * kind.period_s + start, seconds, tuple(sources),
                    victim, kind.share * rate_mbit * 1e6)
        period += 1


def flows(environment: Environment, seed: int, hosts: int,
          count: int) -> tuple[Flow, ...]:
    """`count` flows, each from another host, to the same one."""
    victim, *sources = _chance(environment, seed, hosts).sample(
        range(hosts), 1 + count)
    return tuple(Flow(source, victim) for source in sources)


def late(environment: Environment, seed: int, hosts: int) -> Late | None:
    """Who computes late, if anyone. A single one is never rank 0, because a
    training uses rank 0's clock."""
    kind = environment.lateness
    if kind is None:
        return None
    who = (_chance(environment, seed, hosts).randrange(1, hosts)
           if kind.who == ONE else kind.who)
    return Late(who, kind.share, kind.seconds)


def stalls(environment: Environment, seed: int, hosts: int) -> Iterator[Stall]:
    """Endless, in order. REQUIRES an environment with stalls."""
    def of(host: int) -> Iterator[Stall]:
        kind = environment.stalls
        chance = _chance(environment, f"{seed} {host}", hosts)
        now = 0.0
        while True:
            now += chance.expovariate(1 / kind.gap_s)
            yield Stall(now, host, True)
            now += chance.uniform(*kind.seconds)
            yield Stall(now, host, False)

    return heapq.merge(*map(of, range(hosts)), key=lambda stall: stall.at_s)


def _chance(environment: Environment, seed: int | str,
            hosts: int) -> random.Random:
    return random.Random(f"{environment.name} {seed} {hosts}")
