# SPDX-License-Identifier: Apache-2.0
"""The randomised, block-wise Walsh-Hadamard transform (OptiReduce, section
3.3; the protocol's is transport_ubt/kernels/hadamard.h).

A block is 64 entries. The last 64 n entries of a shard, for the largest such
n, form a matrix of 64 rows and n columns in row order, and each column is a
block. So a packet, a run of entries, contains one or a few entries of each of
many blocks. The fewer than 64 entries before the matrix stay plain. (For
caches, the protocol makes n slightly smaller and transforms the rest.)
"""
from collections.abc import Callable

import numpy

BLOCK = 64


def _hadamard() -> numpy.ndarray:
    """Its order is BLOCK, its rows are of length 1."""
    matrix = numpy.ones((1, 1), numpy.float32)
    while len(matrix) < BLOCK:
        matrix = numpy.block([[matrix, matrix], [matrix, -matrix]])
    return matrix / numpy.float32(BLOCK ** 0.5)


_HADAMARD = _hadamard()


class Transform:
    """The transform of one op: all ranks have the same random signs. It
    preserves sums of squares, and is linear."""

    def __init__(self, entries: int, generator: numpy.random.Generator) -> None:
        """`entries`: of a shard."""
        self._columns = entries // BLOCK
        self._plain = entries - BLOCK * self._columns
        self._signs = generator.choice(
            numpy.array([-1, 1], numpy.float32), (BLOCK, self._columns))

    def forward(self, shards: numpy.ndarray) -> numpy.ndarray:
        """float32, (..., entries): transforms every shard."""
        return self._of_blocks(
            shards, lambda blocks: _HADAMARD @ (self._signs * blocks))

    def backward(self, shards: numpy.ndarray) -> numpy.ndarray:
        """The inverse of forward(), up to rounding."""
        return self._of_blocks(
            shards, lambda blocks: self._signs * (_HADAMARD @ blocks))

    def _of_blocks(self, shards: numpy.ndarray,
                   work: Callable[[numpy.ndarray], numpy.ndarray]
                   ) -> numpy.ndarray:
        result = shards.copy()
        blocks = shards[..., self._plain:].reshape(
            *shards.shape[:-1], BLOCK, self._columns)
        result[..., self._plain:] = work(blocks).reshape(
            *shards.shape[:-1], BLOCK * self._columns)
        return result
