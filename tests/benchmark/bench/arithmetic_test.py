# SPDX-License-Identifier: Apache-2.0
"""Drawn losses, and their effect on algorithms and the transform."""
import unittest

import numpy

from bench.experiments import arithmetic
from bench.experiments.arithmetic import (BLOCK, PATTERNS, RING, SHARDS, Job,
                                          Losses, Transform, contributions,
                                          jobs, owners, ring)
from tests import junit_main

_ROUNDING = 1e-12  # of float32, squared, with a margin


def rows_of(*argv):
    """Rows by job."""
    parsed = arithmetic.parse(["--elements", "40000", "--packet", "45", *argv])
    return dict(zip(jobs(parsed), arithmetic.rows(parsed)))


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
        for ranks in ("2", "5", "8"):
            for job, own in rows_of("--loss", "0", "--ranks", ranks,
                                    "--seeds", "1").items():
                self.assertEqual(0, own["lost_fraction"])
                self.assertLess(own["mse"], _ROUNDING, job)
                self.assertLess(own["worst_se"], 1e-8, job)

    def test_the_transform_changes_nothing_but_by_rounding(self):
        for entries in (1, BLOCK - 1, BLOCK, 10 * BLOCK + 63):
            plain = contributions(generator(), 3, entries, 1.0)
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
        rows = arithmetic.rows(arithmetic.parse(
            "--elements 5000 --ranks 4 --seeds 2 --loss 0.1,0.2".split()))
        # 2 patterns, 2 shares, with and without transform and rescaling. Two
        # algorithms have two fills, the ring has one.
        self.assertEqual(2 * 2 * 2 * 2 * 5, len(rows))
        for own in rows:
            self.assertEqual((4, 5760, 2),  # 4 whole packets for each rank
                             (own["ranks"], own["elements"], own["seeds"]))
            self.assertGreater(own["worst_se"], own["mse"])
            self.assertGreater(own["mse"], 0)

    def test_as_shipped_is_one_of_them(self):
        row, = arithmetic.rows(arithmetic.parse(
            "--elements 5000 --ranks 4 --as-shipped --loss 0.1".split()))
        self.assertEqual(("transpose", "random", False, True, "local"), (
            row["algorithm"], row["pattern"], row["hadamard"],
            row["rescales"], row["fill"]))


class Drawn(unittest.TestCase):
    def test_as_much_is_lost_as_asked_for(self):
        for pattern in PATTERNS:
            for share in (0.01, 0.3):
                losses = Losses(pattern, share, generator())
                for _ in range(8):
                    losses.at_once(7, 2000)
                    losses.one_after_the_other(7, 2000)
                self.assertAlmostEqual(share, losses.lost_fraction,
                                       delta=0.02 * share)

    def test_a_tail_is_what_comes_last(self):
        senders = Losses("tail", 0.25, generator()).at_once(7, 8)
        self.assertTrue(senders[:, :6].all())
        self.assertFalse(senders[:, 6:].any())
        steps = Losses("tail", 0.25, generator()).one_after_the_other(8, 7)
        self.assertTrue(steps[:6].all())
        self.assertFalse(steps[6:].any())

    def test_seeds_say_all(self):
        argv = ("--loss", "0.1", "--seeds", "1")
        self.assertEqual(rows_of(*argv), rows_of(*argv))

    def test_noise_is_as_strong_as_asked_for(self):
        signal, ranks = 100000, 4
        for noise in (0.25, 4.0):
            drawn = contributions(generator(), ranks, signal, noise)
            # The signal is the common part of two ranks.
            common = numpy.mean(drawn[0] * drawn[1])
            self.assertAlmostEqual(
                1 + noise, numpy.mean(drawn ** 2) / common,
                delta=0.15 * (1 + noise))


class Lost(unittest.TestCase):
    """By hand, with contributions of 1: a result is its number of
    contributions."""

    def results(self, algorithm, lost, rescales=False, ranks=4):
        return algorithm(ones(ranks), Chosen(lost), rescales)[..., 0, 0]

    def test_a_ring_goes_on_without_what_came_before(self):
        # Rank 2's second step of the reduce-scatter: shard 0. Rank 2 adds to
        # it and sends it on to rank 3, its owner. 2 of 4 contributions remain.
        found = self.results(ring, {2: 1})
        self.assertEqual([2, 2, 2, 2], list(found[:, 0]))
        self.assertTrue((found[:, 1:] == 4).all())
        self.assertTrue((self.results(ring, {2: 1}, True) == 4).all())

    def test_a_ring_forwards_what_it_has(self):
        # Rank 1's first step of the allgather: shard 1, complete at rank 0.
        # Rank 1 was its first sender, so it has and forwards only its own
        # contribution.
        found = self.results(ring, {4 + 1: 0})
        self.assertEqual([4, 1, 1, 1], list(found[:, 1]))
        self.assertTrue((numpy.delete(found, 1, axis=1) == 4).all())

    def test_an_owner_leaves_out_and_a_receiver_fills_in(self):
        def local(bucket, losses, rescales):
            return owners(bucket, losses, rescales, "local")

        def zero(bucket, losses, rescales):
            return owners(bucket, losses, rescales, "zero")

        self.assertEqual([3, 3, 3, 3],
                         list(self.results(local, {1: 0})[:, 1]))
        self.assertEqual([4, 4, 4, 4],
                         list(self.results(local, {1: 0}, True)[:, 1]))
        found = self.results(zero, {4 + 1: 0})  # rank 1's data from 0
        self.assertEqual([4, 0, 4, 4], list(found[:, 0]))
        self.assertTrue((self.results(local, {4 + 1: 0}) == 4).all())

    def test_one_shard_is_a_server(self):
        bucket = numpy.ones((4, 1, 1, 1), numpy.float32)
        found = owners(bucket, Chosen({0: 2, 3: 0}), False, "zero")
        self.assertEqual([3, 3, 0, 3], list(found[:, 0, 0, 0]))


class Errors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rows = rows_of("--loss", "0.05", "--seeds", "20")

    def row(self, algorithm, pattern="random", hadamard=False, rescales=True,
            fill="local"):
        return self.rows[Job(algorithm, pattern, 0.05, hadamard, rescales,
                             "partial" if algorithm == RING else fill)]

    def test_losses_add_up_along_a_ring(self):
        for pattern, times in (("random", 2), ("tail", 4)):
            for hadamard in (False, True):
                self.assertGreater(
                    self.row("ring", pattern, hadamard)["mse"],
                    times * self.row("transpose", pattern, hadamard)["mse"])

    def test_a_server_that_loses_no_more_is_as_good_as_a_transpose(self):
        for pattern in PATTERNS:
            server, transpose = (self.row(name, pattern)["mse"] for name
                                 in ("parameter_server", "transpose"))
            self.assertAlmostEqual(1, server / transpose, delta=0.1)

    def test_rescaling_takes_the_bias_away(self):
        for algorithm in SHARDS:
            for pattern in PATTERNS:
                with_it, without = (
                    self.row(algorithm, pattern, rescales=rescales)["bias"]
                    for rescales in (True, False))
                self.assertLess(abs(with_it), 0.002)
                self.assertLess(without, -0.003)

    def test_without_rescaling_the_bias_is_what_is_left_out(self):
        # Of 8 contributions, 7 come over the network. A share of results is
        # filled in; these lack no contribution.
        row = self.row("transpose", rescales=False)
        self.assertAlmostEqual(-0.05 * 7 / 8 * (1 - 0.05 * 7 / 8),
                               row["bias"], delta=0.002)
        zeros = self.row("transpose", fill="zero")
        self.assertAlmostEqual(-0.05 * 7 / 8, zeros["bias"], delta=0.002)

    def test_the_transform_spares_the_worst_and_keeps_the_mean(self):
        for algorithm in SHARDS:
            plain, spread = (self.row(algorithm, hadamard=hadamard)
                             for hadamard in (False, True))
            self.assertAlmostEqual(1, spread["mse"] / plain["mse"], delta=0.1)
            self.assertLess(5 * spread["worst_se"], plain["worst_se"])


if __name__ == "__main__":
    junit_main.main()
