# SPDX-License-Identifier: Apache-2.0
"""The jobs, and the errors of their results."""
import argparse
import dataclasses
import statistics
from collections.abc import Iterator, Sequence

import numpy

from .algorithms import FILLS, owners, ring
from .gradients import contributions
from .losses import Losses
from .transform import Transform

# By name: the number of shards of a bucket, for this number of ranks.
SHARDS = {"ring": lambda ranks: ranks,
          "parameter_server": lambda ranks: 1,
          "transpose": lambda ranks: ranks}
RING = "ring"
KEEPS = "partial"  # a ring keeps its partial sum instead of filling in
# The random generators of one seed.
_OF_INPUTS, _OF_SIGNS, _OF_LOSSES = range(3)


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
    worst: float  # squared error of the worst entry
    # The relative excess of all results together; for zeros it is -1.
    bias: float
    lost: float  # share of packets


def jobs(arguments: argparse.Namespace) -> list[Job]:
    return [Job(algorithm, pattern, loss, hadamard, rescales, fill)
            for pattern in arguments.patterns for loss in arguments.loss
            for algorithm in arguments.algorithms
            for hadamard in arguments.hadamard
            for rescales in arguments.rescale
            for fill in ((KEEPS,) if algorithm == RING else arguments.fills)]


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


def measure(wanted: Sequence[Job], arguments: argparse.Namespace
            ) -> Iterator[tuple[Job, Error]]:
    """The errors of each job, seed by seed."""
    for seed in range(1, arguments.seeds + 1):
        inputs = Inputs(arguments, seed)
        for job in wanted:
            yield job, inputs.error_of(job)


def row(job: Job, errors: Sequence[Error],
        arguments: argparse.Namespace) -> dict:
    """The row of one job: means over all seeds."""
    return {
        **dataclasses.asdict(job), "ranks": arguments.ranks,
        "elements": entries(arguments), "packet": arguments.packet,
        "noise": arguments.noise, "seeds": len(errors),
        "mse": statistics.fmean(error.mse for error in errors),
        "worst_se": statistics.fmean(error.worst for error in errors),
        "bias": statistics.fmean(error.bias for error in errors),
        "lost_fraction": statistics.fmean(error.lost for error in errors)}
