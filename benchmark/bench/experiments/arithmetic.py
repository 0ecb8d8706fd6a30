# SPDX-License-Identifier: Apache-2.0
"""Errors of sums with lost packets, in arithmetic alone: real sums of float32,
but no network, time or protocol. Run as a program, it measures.

A bucket is float32 with the shape (ranks, shards, packets, entries of a
packet), the same for the contributions of all ranks. Results have the same
shape and are sums. Each packet has a count of contributors, which travels with
it: a sum with missing contributors is multiplied by ranks / contributors.
"""
import argparse
import itertools
import math
import statistics
import sys
from collections.abc import Callable, Sequence

import numpy

from front_end.commands import run_command
from front_end.options import list_of, positive

from .. import table

BLOCK = 64  # entries, of the transform
_RANKS, _PACKET = 8, 360
# By name: the number of shards of a bucket, for this number of ranks.
SHARDS: dict[str, Callable[[int], int]] = {
    "ring": lambda ranks: ranks,
    "parameter_server": lambda ranks: 1,
    "transpose": lambda ranks: ranks}
# The random generators of one seed.
_OF_INPUTS, _OF_SIGNS, _OF_LOSSES = range(3)


class Losses:
    """Draws the lost packets among all that a receiver should get in one
    stage, given in order of arrival."""

    def __init__(self, pattern: str, share: float,
                 generator: numpy.random.Generator) -> None:
        """`pattern`: one of PATTERNS. `share`: of a stage's packets."""
        self._arrived = PATTERNS[pattern]
        self._share = share
        self._generator = generator

    def one_after_the_other(self, steps: int, packets: int) -> numpy.ndarray:
        """One receiver's stage with several consecutive steps. Returns the
        packets that arrive: bool, (steps, packets)."""
        return self._arrived(self._generator, self._share,
                             steps * packets).reshape(steps, packets)

    def at_once(self, senders: int, packets: int) -> numpy.ndarray:
        """One receiver's stage with all senders sending at once. Their packets
        arrive in turns: the first of each before the second of any. The order
        of senders is random. Returns the packets that arrive: bool, (senders,
        packets)."""
        order = self._generator.permutation(senders)
        return self.one_after_the_other(packets, senders).T[order]


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


def ring(bucket: numpy.ndarray, losses: Losses) -> numpy.ndarray:
    """2 (N - 1) hops; a rank has as many shards as there are ranks.

    Reduce-scatter: a shard travels from rank to rank, and each adds its own
    contribution. If a packet is lost, its partial sum never arrives, and the
    receiver continues with its own contribution alone. Allgather: complete
    shards travel round the ring. If a packet is lost, the receiver keeps and
    forwards the partial sum that it sent in the reduce-scatter. So losses add
    up along the ring.

    A stage is a reduce-scatter or an allgather: N - 1 consecutive steps.
    """
    ranks, shards, packets, _ = bucket.shape
    assert ranks == shards
    sums = bucket.copy()
    counts = numpy.ones((ranks, shards, packets), numpy.float32)

    def arrivals() -> list[numpy.ndarray]:
        return [losses.one_after_the_other(ranks - 1, packets)
                for _ in range(ranks)]

    arrived = arrivals()
    for step in range(ranks - 1):
        for rank in range(ranks):
            shard = (rank - 1 - step) % ranks
            mask = arrived[rank][step]
            counts[rank, shard] += mask * counts[rank - 1, shard]
            sums[rank, shard] += _where(mask, sums[rank - 1, shard], 0)
    arrived = arrivals()
    for step in range(ranks - 1):
        for rank in range(ranks):
            shard = (rank - step) % ranks
            mask = arrived[rank][step]
            counts[rank, shard] = numpy.where(
                mask, counts[rank - 1, shard], counts[rank, shard])
            sums[rank, shard] = _where(mask, sums[rank - 1, shard],
                                       sums[rank, shard])
    return _rescaled(sums, counts, ranks)


def owners(bucket: numpy.ndarray, losses: Losses) -> numpy.ndarray:
    """A shard belongs to the rank of its number. With a single shard this is a
    parameter server; with as many shards as ranks it is a transpose
    (OptiReduce, section 3.1).

    Scatter: every rank sends each owner its part; lost packets are left out of
    the sum. Broadcast: every owner sends its sum to all others; lost packets
    are zeros. An owner always has its own contribution and its own result.

    A stage is everything that one rank should receive in it. Its senders send
    at once: a server's port gets N - 1 whole buckets.
    """
    ranks, shards, packets, _ = bucket.shape
    sums = []
    for owner in range(shards):
        senders = [rank for rank in range(ranks) if rank != owner]
        arrived = losses.at_once(len(senders), packets)
        total = bucket[owner, owner].copy()
        for sender, mask in zip(senders, arrived):
            total += _where(mask, bucket[sender, owner], 0)
        counts = (1 + arrived.sum(axis=0)).astype(numpy.float32)
        sums.append(_rescaled(total, counts, ranks))
    results = numpy.empty_like(bucket)
    for rank in range(ranks):
        senders = [owner for owner in range(shards) if owner != rank]
        arrived = losses.at_once(len(senders), packets)
        for owner, mask in zip(senders, arrived):
            results[rank, owner] = _where(mask, sums[owner], 0)
        if rank < shards:
            results[rank, rank] = sums[rank]
    return results


def _where(mask: numpy.ndarray, those: numpy.ndarray,
           others: object) -> numpy.ndarray:
    """Chooses packet by packet."""
    return numpy.where(mask[..., None], those, others)


def _rescaled(sums: numpy.ndarray, counts: numpy.ndarray,
              ranks: int) -> numpy.ndarray:
    return sums * (numpy.float32(ranks) / counts)[..., None]


def contributions(generator: numpy.random.Generator, ranks: int,
                  elements: int) -> numpy.ndarray:
    """float32, (ranks, elements), like gradients of ranks that see different
    parts of the data: a signal that all ranks share, plus as much noise of each
    rank's own. Each entry of both is drawn independently: a random sign, and a
    magnitude with a normal logarithm of standard deviation 1. So tails are
    heavy: the largest of a million entries is about 50 times the root mean
    square."""
    signal = _lognormal(generator, (elements,))
    return signal + _lognormal(generator, (ranks, elements))


def _lognormal(generator: numpy.random.Generator,
               shape: tuple[int, ...]) -> numpy.ndarray:
    values = numpy.exp(generator.standard_normal(shape, numpy.float32))
    values[generator.random(shape, numpy.float32) < 0.5] *= -1
    return values


def _hadamard() -> numpy.ndarray:
    """Its order is BLOCK, its rows are of length 1."""
    matrix = numpy.ones((1, 1), numpy.float32)
    while len(matrix) < BLOCK:
        matrix = numpy.block([[matrix, matrix], [matrix, -matrix]])
    return matrix / numpy.float32(BLOCK ** 0.5)


_HADAMARD = _hadamard()


class Transform:
    """The randomised, block-wise Walsh-Hadamard transform of one op, with the
    same random signs at all ranks (OptiReduce, section 3.3; the protocol's is
    transport_ubt/kernels/hadamard.h). It preserves sums of squares, and is
    linear.

    A block is 64 entries. The last 64 n entries of a shard, for the largest
    such n, form a matrix of 64 rows and n columns in row order, and each column
    is a block. So a packet, a run of entries, contains one or a few entries of
    each of many blocks. The fewer than 64 entries before the matrix stay plain.
    (For caches, the protocol makes n slightly smaller and transforms the rest.)
    """

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


class Inputs:
    """The inputs of one seed. All jobs of an algorithm get the same losses."""

    def __init__(self, elements: int, seed: int) -> None:
        self._seed = seed
        self._plain = contributions(self._generator(_OF_INPUTS), _RANKS,
                                    elements)
        self._exact = self._plain.mean(axis=0, dtype=numpy.float64)

    def errors(self, algorithm: str, pattern: str, loss: float,
               hadamard: bool) -> tuple[float, float]:
        """The mean squared error of results over ranks and entries, and the
        squared error of the worst entry. Both are relative to the mean square
        of exact means, so a result of zeros has an error of 1."""
        shards = SHARDS[algorithm](_RANKS)
        bucket = self._plain.reshape(_RANKS, shards, -1)
        transform = Transform(bucket.shape[-1], self._generator(_OF_SIGNS))
        if hadamard:
            bucket = transform.forward(bucket)
        packets = bucket.reshape(_RANKS, shards, -1, _PACKET)
        losses = Losses(pattern, loss, self._generator(_OF_LOSSES))
        results = (ring if algorithm == "ring" else owners)(packets, losses)
        results = results.reshape(bucket.shape)
        if hadamard:
            results = transform.backward(results)
        squares = [(own / _RANKS - self._exact) ** 2
                   for own in results.reshape(_RANKS, -1)]
        unit = numpy.mean(self._exact ** 2)
        return (float(numpy.mean(squares) / unit),
                float(numpy.max(squares) / unit))

    def _generator(self, purpose: int) -> numpy.random.Generator:
        return numpy.random.default_rng((self._seed, purpose))


def rows(elements: int, seeds: int, shares: Sequence[float]) -> list[dict]:
    """A row for each combination: means over all seeds. The elements fill whole
    packets, for as many equal shards as ranks."""
    step = _RANKS * _PACKET
    elements = -(-elements // step) * step
    inputs = [Inputs(elements, seed) for seed in range(1, seeds + 1)]
    found = []
    for pattern, loss, algorithm, hadamard in itertools.product(
            PATTERNS, shares, SHARDS, (False, True)):
        mse, worst = zip(*(own.errors(algorithm, pattern, loss, hadamard)
                           for own in inputs))
        found.append({
            "algorithm": algorithm, "pattern": pattern, "loss": loss,
            "hadamard": hadamard, "ranks": _RANKS, "elements": elements,
            "packet": _PACKET, "seeds": seeds, "mse": statistics.fmean(mse),
            "worst_se": statistics.fmean(worst)})
    return found


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Ends the process if an argument is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loss", type=list_of(float, "share"), default=(0.05,),
                        help="shares of packets")
    parser.add_argument("--elements", type=positive(int), default=1000000)
    parser.add_argument("--seeds", type=positive(int), default=3)
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args(argv)


def _main(argv: Sequence[str]) -> int:
    arguments = parse(argv)
    table.write_json(arguments.json, rows(arguments.elements, arguments.seeds,
                                          arguments.loss))
    return 0


if __name__ == "__main__":
    sys.exit(run_command(_main, sys.argv[1:]))
