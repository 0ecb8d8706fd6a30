# SPDX-License-Identifier: Apache-2.0
"""The randomised, block-wise Walsh-Hadamard transform (OptiReduce, section 3.3;
for the protocol transport_ubt/kernels/hadamard.h has it).

A block is 64 entries. A shard's last 64 n entries, for the largest such n, are
a matrix of 64 rows and n columns, row after row, and each column is a block: so
a packet, a run of entries, takes with it one or a few of each of many blocks.
What lies before, fewer than 64 entries, stays plain. (The protocol makes n a
little smaller where caches like it, and transforms what is then left over.)
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
    """One op's: all ranks have the same random signs. Keeps sums of squares,
    and the transform of a sum is the sum of transforms."""

    def __init__(self, entries: int, generator: numpy.random.Generator) -> None:
        """`entries`: of a shard."""
        self._columns = entries // BLOCK
        self._plain = entries - BLOCK * self._columns
        self._signs = generator.choice(
            numpy.array([-1, 1], numpy.float32), (BLOCK, self._columns))

    def forward(self, shards: numpy.ndarray) -> numpy.ndarray:
        """float32, (..., entries): every shard transformed."""
        return self._of_blocks(
            shards, lambda blocks: _HADAMARD @ (self._signs * blocks))

    def backward(self, shards: numpy.ndarray) -> numpy.ndarray:
        """What forward() was given, but for rounding."""
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
