# SPDX-License-Identifier: Apache-2.0
"""What ranks contribute: like gradients, of which each rank sees a part of the
data."""
import numpy


def contributions(generator: numpy.random.Generator, ranks: int, elements: int,
                  noise: float) -> numpy.ndarray:
    """float32, (ranks, elements): a signal, which all ranks share, plus each
    rank's own noise, whose mean square is `noise` times the signal's. Both are
    drawn anew for each entry: a random sign, and a size whose logarithm is
    normal, with a standard deviation of 1. So tails are heavy: of a million
    entries the largest is some 50 times the root of the mean square."""
    signal = _lognormal(generator, (elements,))
    own = _lognormal(generator, (ranks, elements))
    return signal + numpy.float32(noise ** 0.5) * own


def _lognormal(generator: numpy.random.Generator,
               shape: tuple[int, ...]) -> numpy.ndarray:
    values = numpy.exp(generator.standard_normal(shape, numpy.float32))
    values[generator.random(shape, numpy.float32) < 0.5] *= -1
    return values
