# SPDX-License-Identifier: Apache-2.0
"""When who sends to whom: a pure function of environment, seed and hosts."""
import dataclasses
import random
from collections.abc import Iterator

from .environments import Environment


@dataclasses.dataclass(frozen=True)
class Burst:
    start_s: float  # from when the traffic begins
    seconds: float
    sources: tuple[int, ...]  # hosts
    victim: int
    bits_per_s: float  # of each source, all headers counted


def bursts(environment: Environment, seed: int, hosts: int,
           rate_mbit: float) -> Iterator[Burst]:
    """Without end, in the order in which they start. They do not overlap.

    REQUIRES an environment with bursts, and more hosts than one has sources.
    """
    kind = environment.bursts
    assert kind is not None and hosts > kind.sources
    chance = random.Random(f"{environment.name} {seed} {hosts}")
    period = 0
    while True:
        seconds = chance.uniform(*kind.seconds)
        start = chance.uniform(0, kind.period_s - seconds)
        victim, *sources = chance.sample(range(hosts), 1 + kind.sources)
        yield Burst(period * kind.period_s + start, seconds, tuple(sources),
                    victim, kind.share * rate_mbit * 1e6)
        period += 1
