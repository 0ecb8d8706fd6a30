# SPDX-License-Identifier: Apache-2.0
"""The ranks' contributions. They resemble gradients of ranks that see
different parts of the data."""
import numpy


def contributions(generator: numpy.random.Generator, ranks: int, elements: int,
                  noise: float) -> numpy.ndarray:
    """float32, (ranks, elements): a signal that all ranks share, plus each
    rank's own noise. The noise's mean square is `noise` times the signal's.
    Each entry of both is drawn independently: a random sign, and a magnitude
    with a normal logarithm of standard deviation 1. So tails are heavy: the
    largest of a million entries is about 50 times the root mean square."""
    signal = _lognormal(generator, (elements,))
    own = _lognormal(generator, (ranks, elements))
    return signal + numpy.float32(noise ** 0.5) * own


def _lognormal(generator: numpy.random.Generator,
               shape: tuple[int, ...]) -> numpy.ndarray:
    values = numpy.exp(generator.standard_normal(shape, numpy.float32))
    values[generator.random(shape, numpy.float32) < 0.5] *= -1
    return values
