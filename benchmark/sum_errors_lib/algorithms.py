# SPDX-License-Identifier: Apache-2.0
"""The effect of lost packets on each algorithm.

A bucket is float32 with the shape (ranks, shards, packets, entries of a
packet), the same for the contributions of all ranks. Results have the same
shape and are sums. Each packet has a count of contributors, which travels with
it.

With `rescales`, a sum with missing contributors is multiplied by ranks /
contributors. Otherwise it is unchanged.
"""
from collections.abc import Callable

import numpy

from .losses import Losses

# The value for a missing result (GLOO_UBT_FILL), computed from the own
# contribution and the number of ranks.
FILLS: dict[str, Callable[[numpy.ndarray, int], object]] = {
    "local": lambda own, ranks: ranks * own,
    "zero": lambda own, ranks: 0,
}


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
