# SPDX-License-Identifier: Apache-2.0
"""The schedule of traffic: pure functions of environment, seed and hosts."""
import dataclasses
import random
from collections.abc import Iterator

from .environments import Environment


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
    """A rank computes for longer, in a share of its iterations."""

    host: int | None  # None: each time another host except 0
    share: float
    seconds: float

    @property
    def who(self) -> int | str:
        """The host, or "any"."""
        return "any" if self.host is None else self.host


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
    """The rank that computes late, if there is one. It is never rank 0,
    because a training uses rank 0's clock."""
    kind = environment.lateness
    if kind is None:
        return None
    host = None if kind.anyone else _chance(environment, seed, hosts).randrange(
        1, hosts)
    return Late(host, kind.share, kind.seconds)


def _chance(environment: Environment, seed: int,
            hosts: int) -> random.Random:
    return random.Random(f"{environment.name} {seed} {hosts}")
