# SPDX-License-Identifier: Apache-2.0
"""Errors of sums with lost packets, in arithmetic alone: real sums of float32,
but no network, time or protocol. Run as a program, it measures.

A bucket is float32 with the shape (ranks, shards, packets, entries of a
packet), the same for the contributions of all ranks. Results have the same
shape and are sums. Each packet has a count of contributors, which travels with
it. With `rescales`, a sum with missing contributors is multiplied by ranks /
contributors. Otherwise it is unchanged.
"""
import argparse
import dataclasses
import math
import statistics
import sys
from collections.abc import Callable, Sequence

import numpy

from front_end.commands import run_command
from front_end.options import list_of, positive

from .. import table

BLOCK = 64  # entries, of the transform
# By name: the number of shards of a bucket, for this number of ranks.
SHARDS: dict[str, Callable[[int], int]] = {
    "ring": lambda ranks: ranks,
    "parameter_server": lambda ranks: 1,
    "transpose": lambda ranks: ranks}
RING = "ring"
KEEPS = "partial"  # a ring keeps its partial sum instead of filling in
# The value for a missing result, computed from the own contribution and the
# number of ranks. The protocol uses zero.
FILLS: dict[str, Callable[[numpy.ndarray, int], object]] = {
    "local": lambda own, ranks: ranks * own,
    "zero": lambda own, ranks: 0,
}
# The random generators of one seed.
_OF_INPUTS, _OF_SIGNS, _OF_LOSSES = range(3)


class Losses:
    """Draws and counts the lost packets among all that a receiver should get in
    one stage, given in order of arrival."""

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


def ring(bucket: numpy.ndarray, losses: Losses,
         rescales: bool) -> numpy.ndarray:
    """2 (N - 1) hops; a rank has as many shards as there are ranks.

    Reduce-scatter: a shard travels from rank to rank, and each adds its own
    contribution. If a packet is lost, its partial sum never arrives, and the
    receiver continues with its own contribution alone. Allgather: complete
    shards travel round the ring. If a packet is lost, the receiver keeps and
    forwards the partial sum that it sent in the reduce-scatter. So nothing
    else is filled in, and losses add up along the ring.

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
    return _rescaled(sums, counts, ranks) if rescales else sums


def owners(bucket: numpy.ndarray, losses: Losses, rescales: bool,
           fill: str) -> numpy.ndarray:
    """A shard belongs to the rank of its number. With a single shard this is a
    parameter server; with as many shards as ranks it is a transpose
    (OptiReduce, section 3.1).

    Scatter: every rank sends each owner its part; lost packets are left out of
    the sum. Broadcast: every owner sends its sum to all others; the receiver
    fills in lost packets. An owner always has its own contribution and its own
    result.

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
        sums.append(_rescaled(total, counts, ranks) if rescales else total)
    results = numpy.empty_like(bucket)
    for rank in range(ranks):
        senders = [owner for owner in range(shards) if owner != rank]
        arrived = losses.at_once(len(senders), packets)
        for owner, mask in zip(senders, arrived):
            results[rank, owner] = _where(
                mask, sums[owner], FILLS[fill](bucket[rank, owner], ranks))
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


def contributions(generator: numpy.random.Generator, ranks: int, elements: int,
                  noise: float) -> numpy.ndarray:
    """float32, (ranks, elements), like gradients of ranks that see different
    parts of the data: a signal that all ranks share, plus each
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


@dataclasses.dataclass(frozen=True)
class Job:
    algorithm: str
    pattern: str
    loss: float  # share of packets
    hadamard: bool
    rescales: bool
    fill: str


@dataclasses.dataclass(frozen=True)
class Error:
    """The errors of one allreduce's results. Squares are relative to the mean
    square of exact means, so a result of zeros has an error of 1."""

    mse: float  # mean over ranks and entries
    worst_se: float  # squared error of the worst entry
    # The relative excess of all results together; for zeros it is -1.
    bias: float
    lost_fraction: float  # of packets


AS_SHIPPED = ("transpose", "random", False, True, "local")


def jobs(arguments: argparse.Namespace) -> list[Job]:
    """All combinations, or with --as-shipped only the protocol's default."""
    return [Job(algorithm, pattern, loss, hadamard, rescales, fill)
            for pattern in PATTERNS for loss in arguments.loss
            for algorithm in SHARDS for hadamard in (False, True)
            for rescales in (True, False)
            for fill in ((KEEPS,) if algorithm == RING else FILLS)
            if not arguments.as_shipped or AS_SHIPPED == (
                algorithm, pattern, hadamard, rescales, fill)]


def entries(arguments: argparse.Namespace) -> int:
    """Whole packets, for as many equal shards as ranks."""
    step = arguments.ranks * arguments.packet
    return -(-arguments.elements // step) * step


class Inputs:
    """The inputs of one seed. All jobs of an algorithm get the same losses."""

    def __init__(self, arguments: argparse.Namespace, seed: int) -> None:
        self._packet, self._seed = arguments.packet, seed
        self._plain = contributions(self._generator(_OF_INPUTS),
                                    arguments.ranks, entries(arguments),
                                    arguments.noise)
        self._exact = self._plain.mean(axis=0, dtype=numpy.float64)
        self._transforms: dict[int, Transform] = {}
        self._buckets: dict[tuple[int, bool], numpy.ndarray] = {}

    def error_of(self, job: Job) -> Error:
        ranks = len(self._plain)
        shards = SHARDS[job.algorithm](ranks)
        bucket = self._bucket(shards, job.hadamard)
        losses = Losses(job.pattern, job.loss, self._generator(_OF_LOSSES))
        results = (ring(bucket, losses, job.rescales) if job.algorithm == RING
                   else owners(bucket, losses, job.rescales, job.fill))
        if job.hadamard:
            results = self._transforms[shards].backward(
                results.reshape(ranks, shards, -1))
        return self._error(results.reshape(ranks, -1), losses.lost_fraction)

    def _generator(self, purpose: int) -> numpy.random.Generator:
        return numpy.random.default_rng((self._seed, purpose))

    def _bucket(self, shards: int, hadamard: bool) -> numpy.ndarray:
        """(ranks, shards, packets, entries of a packet)."""
        key = shards, hadamard
        if key not in self._buckets:
            ranks = len(self._plain)
            bucket = self._plain.reshape(ranks, shards, -1)
            if hadamard:
                transform = Transform(bucket.shape[-1],
                                      self._generator(_OF_SIGNS))
                self._transforms[shards] = transform
                bucket = transform.forward(bucket)
            self._buckets[key] = bucket.reshape(ranks, shards, -1,
                                                self._packet)
        return self._buckets[key]

    def _error(self, sums: numpy.ndarray, lost: float) -> Error:
        unit = numpy.mean(self._exact ** 2)
        squares, worst, along = [], [], []
        for own in sums:
            off = own / len(sums) - self._exact
            along.append(numpy.mean(off * self._exact))
            off *= off
            squares.append(numpy.mean(off))
            worst.append(numpy.max(off))
        return Error(float(numpy.mean(squares) / unit),
                     float(max(worst) / unit),
                     float(numpy.mean(along) / unit), lost)


def rows(arguments: argparse.Namespace) -> list[dict]:
    """The row of each job: means over all seeds."""
    errors: dict[Job, list[Error]] = {job: [] for job in jobs(arguments)}
    for seed in range(1, arguments.seeds + 1):
        inputs = Inputs(arguments, seed)
        for job, own in errors.items():
            own.append(inputs.error_of(job))
    return [{
        **dataclasses.asdict(job), "ranks": arguments.ranks,
        "elements": entries(arguments), "packet": arguments.packet,
        "noise": arguments.noise, "seeds": arguments.seeds,
        **{name: statistics.fmean(getattr(error, name) for error in own)
           for name in ("mse", "worst_se", "bias", "lost_fraction")}}
            for job, own in errors.items()]


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Ends the process if an argument is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loss", type=list_of(float, "share"), default=(0.05,),
                        help="shares of packets")
    for name, default in (("ranks", 8), ("elements", 1000000),
                          ("packet", 360), ("seeds", 3)):
        parser.add_argument(f"--{name}", type=positive(int), default=default)
    parser.add_argument("--noise", type=positive(float), default=1.0,
                        help="mean square of a rank's own noise, relative to "
                        "the signal's")
    parser.add_argument("--as-shipped", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args(argv)


def _main(argv: Sequence[str]) -> int:
    arguments = parse(argv)
    table.write_json(arguments.json, rows(arguments))
    return 0


if __name__ == "__main__":
    sys.exit(run_command(_main, sys.argv[1:]))
