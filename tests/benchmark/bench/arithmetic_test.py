# SPDX-License-Identifier: Apache-2.0
"""Drawn losses, and their effect on algorithms and the transform."""
import unittest

import numpy

from bench.experiments import arithmetic
from bench.experiments.arithmetic import (BLOCK, PATTERNS, SHARDS, Inputs,
                                          Losses, Transform, contributions,
                                          owners, ring)
from tests import junit_main

_ROUNDING = 1e-12  # of float32, squared, with a margin


def generator(seed=1):
    return numpy.random.default_rng(seed)


def ones(ranks, packets=1):
    """Each rank's contribution is 1, in shards of packets of one entry."""
    return numpy.ones((ranks, ranks, packets, 1), numpy.float32)


class Chosen(Losses):
    """Loses the packets that a test chooses: in each stage of these numbers,
    from 0, all packets of one sender or step."""

    def __init__(self, lost):
        super().__init__("random", 0, generator())
        self._chosen, self._stages = lost, 0

    def _drop(self, shape):
        arrived = numpy.ones(shape, bool)
        if self._stages in self._chosen:
            arrived[self._chosen[self._stages]] = False
        self._stages += 1
        return arrived

    def one_after_the_other(self, steps, packets):
        return self._drop((steps, packets))

    def at_once(self, senders, packets):
        return self._drop((senders, packets))


class WithoutLoss(unittest.TestCase):
    def test_all_sums_are_exact(self):
        for row in arithmetic.rows(40000, 1, [0]):
            self.assertLess(row["mse"], _ROUNDING, row)
            self.assertLess(row["worst_se"], 1e-8, row)

    def test_sums_of_any_number_of_ranks_are_exact(self):
        none = Losses("random", 0, generator())
        for ranks in (2, 5, 8):
            for algorithm in (ring, owners):
                found = algorithm(ones(ranks), none)
                self.assertTrue((found == ranks).all())

    def test_the_transform_changes_nothing_but_by_rounding(self):
        for entries in (1, BLOCK - 1, BLOCK, 10 * BLOCK + 63):
            plain = contributions(generator(), 3, entries)
            transform = Transform(entries, generator())
            there = transform.forward(plain)
            back = transform.backward(there)
            scale = numpy.max(numpy.abs(plain))
            numpy.testing.assert_allclose(back, plain, atol=1e-6 * scale)
            numpy.testing.assert_allclose(
                numpy.sum(there ** 2), numpy.sum(plain ** 2), rtol=1e-4)
            numpy.testing.assert_allclose(
                transform.backward(there.sum(axis=0)), plain.sum(axis=0),
                atol=1e-5 * scale)
            if entries >= BLOCK:
                self.assertFalse(numpy.allclose(there, plain))


class Rows(unittest.TestCase):
    def test_of_each_combination(self):
        rows = arithmetic.rows(5000, 2, [0.1, 0.2])
        # 2 patterns, 2 shares, 3 algorithms, with and without transform.
        self.assertEqual(2 * 2 * 3 * 2, len(rows))
        for own in rows:
            self.assertEqual((8, 5760, 2),  # 2 whole packets for each rank
                             (own["ranks"], own["elements"], own["seeds"]))
            self.assertGreater(own["worst_se"], own["mse"])
            self.assertGreater(own["mse"], 0)

    def test_seeds_say_all(self):
        self.assertEqual(arithmetic.rows(5000, 1, [0.1]),
                         arithmetic.rows(5000, 1, [0.1]))


class Drawn(unittest.TestCase):
    def test_as_much_is_lost_as_asked_for(self):
        for pattern in PATTERNS:
            for share in (0.01, 0.3):
                losses = Losses(pattern, share, generator())
                arrived = [stage.mean() for _ in range(8) for stage in (
                    losses.at_once(7, 2000),
                    losses.one_after_the_other(7, 2000))]
                self.assertAlmostEqual(share, 1 - numpy.mean(arrived),
                                       delta=0.02 * share)

    def test_a_tail_is_what_comes_last(self):
        senders = Losses("tail", 0.25, generator()).at_once(7, 8)
        self.assertTrue(senders[:, :6].all())
        self.assertFalse(senders[:, 6:].any())
        steps = Losses("tail", 0.25, generator()).one_after_the_other(8, 7)
        self.assertTrue(steps[:6].all())
        self.assertFalse(steps[6:].any())

    def test_noise_is_as_strong_as_the_signal(self):
        drawn = contributions(generator(), 4, 100000)
        # The signal is the common part of two ranks.
        common = numpy.mean(drawn[0] * drawn[1])
        self.assertAlmostEqual(2, numpy.mean(drawn ** 2) / common, delta=0.3)


class Lost(unittest.TestCase):
    """By hand, with contributions of 1: a result is the number of ranks,
    however many contributions are left."""

    def results(self, algorithm, lost, bucket=None):
        return algorithm(ones(4) if bucket is None else bucket,
                         Chosen(lost))[..., 0, 0]

    def test_a_ring_goes_on_without_what_came_before(self):
        # Rank 2's second step of the reduce-scatter: shard 0. Rank 2 adds to
        # it and sends it on to rank 3, its owner. The contributions of 2 and 3
        # remain, and stand for all.
        bucket = ones(4)
        bucket[2], bucket[3] = 3, 5
        found = self.results(ring, {2: 1}, bucket)
        self.assertEqual([16, 16, 16, 16], list(found[:, 0]))
        self.assertTrue((found[:, 1:] == 10).all())

    def test_a_ring_forwards_what_it_has(self):
        # Rank 1's first step of the allgather: shard 1, complete at rank 0.
        # Rank 1 was its first sender, so it has and forwards only its own
        # contribution.
        bucket = ones(4)
        bucket[1] = 3
        found = self.results(ring, {4 + 1: 0}, bucket)
        self.assertEqual([6, 12, 12, 12], list(found[:, 1]))
        self.assertTrue((numpy.delete(found, 1, axis=1) == 6).all())

    def test_an_owner_leaves_out_and_a_receiver_has_zeros(self):
        bucket = ones(4)
        bucket[0] = 4
        found = self.results(owners, {1: 0}, bucket)  # owner 1 lacks rank 0
        self.assertEqual([4, 4, 4, 4], list(found[:, 1]))
        self.assertTrue((numpy.delete(found, 1, axis=1) == 7).all())
        found = self.results(owners, {4 + 1: 0})  # rank 1's data from 0
        self.assertEqual([4, 0, 4, 4], list(found[:, 0]))

    def test_one_shard_is_a_server(self):
        bucket = numpy.ones((4, 1, 1, 1), numpy.float32)
        bucket[3] = 5
        found = self.results(owners, {0: 2, 3: 0}, bucket)
        self.assertEqual([4, 4, 0, 4], list(found[:, 0]))


class Errors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.inputs = [Inputs(40320, seed) for seed in range(1, 11)]

    def row(self, algorithm, pattern="random", hadamard=False):
        """Mean squared error and that of the worst entry, means over seeds."""
        return numpy.mean([own.errors(algorithm, pattern, 0.05, hadamard)
                           for own in self.inputs], axis=0)

    def test_losses_add_up_along_a_ring(self):
        for pattern, times in (("random", 1.8), ("tail", 3.5)):
            for hadamard in (False, True):
                self.assertGreater(
                    self.row("ring", pattern, hadamard)[0],
                    times * self.row("transpose", pattern, hadamard)[0])

    def test_a_server_that_loses_no_more_is_as_good_as_a_transpose(self):
        for pattern in PATTERNS:
            server, transpose = (self.row(name, pattern)[0] for name
                                 in ("parameter_server", "transpose"))
            self.assertAlmostEqual(1, server / transpose, delta=0.1)

    def test_the_transform_spares_the_worst_and_keeps_the_mean(self):
        for algorithm in SHARDS:
            plain, spread = (self.row(algorithm, hadamard=hadamard)
                             for hadamard in (False, True))
            self.assertAlmostEqual(1, spread[0] / plain[0], delta=0.1)
            self.assertLess(5 * spread[1], plain[1])


if __name__ == "__main__":
    junit_main.main()
