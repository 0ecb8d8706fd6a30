# SPDX-License-Identifier: Apache-2.0
"""Draws the lost packets among all that a receiver should get in one stage,
given in order of arrival."""
import math

import numpy


class Losses:
    """Draws lost packets and counts them."""

    def __init__(self, pattern: str, share: float,
                 generator: numpy.random.Generator) -> None:
        """`pattern`: one of PATTERNS. `share`: of a stage's packets."""
        self._arrived = PATTERNS[pattern]
        self._share = share
        self._generator = generator
        self._lost = self._expected = 0

    @property
    def lost_fraction(self) -> float:
        """The lost share of all packets until now."""
        return self._lost / self._expected if self._expected else 0.0

    def one_after_the_other(self, steps: int, packets: int) -> numpy.ndarray:
        """One receiver's stage with several consecutive steps. Returns the
        packets that arrive: bool, (steps, packets)."""
        return self._stage((steps, packets))

    def at_once(self, senders: int, packets: int) -> numpy.ndarray:
        """One receiver's stage with all senders sending at once. Their packets
        arrive in turns: the first of each before the second of any. The order
        of senders is random. Returns the packets that arrive: bool, (senders,
        packets)."""
        order = self._generator.permutation(senders)
        return self._stage((packets, senders)).T[order]

    def _stage(self, shape: tuple[int, int]) -> numpy.ndarray:
        arrived = self._arrived(self._generator, self._share,
                                shape[0] * shape[1])
        self._expected += arrived.size
        self._lost += arrived.size - numpy.count_nonzero(arrived)
        return arrived.reshape(shape)


def _random(generator: numpy.random.Generator, share: float,
            packets: int) -> numpy.ndarray:
    return generator.random(packets) >= share


def _tail(generator: numpy.random.Generator, share: float,
          packets: int) -> numpy.ndarray:
    """Loses a whole number of last packets; the mean number matches
    `share`."""
    lost = math.floor(share * packets + generator.random())
    return numpy.arange(packets) < packets - lost


PATTERNS = {"random": _random, "tail": _tail}
