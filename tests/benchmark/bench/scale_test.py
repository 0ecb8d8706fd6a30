# SPDX-License-Identifier: Apache-2.0
"""Simulations of many ranks, and their comparison with the lab."""
import unittest

import made_up
from bench.experiments.suite import SUITE
from tests import junit_main


def tell(experiment, results):
    return made_up.shown(SUITE[experiment], results)


def claims(experiment, results):
    return SUITE[experiment].claims(results)


def jobs(*jobs_ms, iterations=30, **more):
    """Rows of optireduce:none, by (ranks, ms)."""
    return [made_up.simulated("optireduce:none", ranks, ms,
                              iterations=iterations, **more)
            for ranks, ms in jobs_ms]


class Scale(unittest.TestCase):
    def test_growth_is_that_of_the_worst_number_of_ranks(self):
        text = tell("scale", {"ways-100-from-8": jobs((8, 1), (64, 1.4)),
                              "ways-100-from-256": jobs((256, 1.1),
                                                        iterations=10)})
        self.assertIn("with 256 ranks, relative to 8", text)
        self.assertIn("median 1.10x, at most 1.40x (64 ranks)", text)
        self.assertIn("| slowest ms |", text)
        text = tell("scale", {"ways-100-from-8": jobs((8, 1), (64, 1.2),
                                                      iterations=100)})
        self.assertIn("| p99 ms |", text)

    def test_the_default_has_goals_of_its_own(self):
        over_ring, over_nccl, over_exact = claims("scale", {
            "ways-100-from-8": [
                made_up.simulated(name, ranks, ms, tail=3.0)
                for ranks, ms in ((8, 2.0), (64, 4.0), (512, 9.0))
                for name, ms in (("ring", 3 * ms), ("tree", 1.2 * ms),
                                 ("transpose", ms + 0.5), ("optireduce", ms))]
        })
        self.assertEqual(("1.85 (bound 1.95)", "3.0000", True), (
            over_ring.goal, over_ring.found, over_ring.holds))
        self.assertEqual(("1.27 (bound 1.33)", "1.2000", False), (
            over_nccl.goal, over_nccl.found, over_nccl.holds))
        self.assertEqual(("0.800 (8 ranks), 0.889 (64 ranks)", True), (
            over_exact.found, over_exact.holds))

    def test_nothing_is_claimed_of_other_ranks_than_8(self):
        rows = [made_up.simulated(name, 256, 1)
                for name in ("ring", "tree", "optireduce:none")]
        self.assertEqual([], claims("scale", {"ways-100-from-256": rows}))

    def test_speed_is_that_with_fewest_ranks_beside_the_best_other(self):
        rows = [made_up.simulated(name, ranks, ms * ranks)
                for ranks in (8, 64)
                for name, ms in (("ring", 4), ("tree", 3),
                                 ("optireduce:none", 2))]
        ring, nccl, growth = claims("scale", {"ways-100-from-8": rows})
        self.assertEqual(("8.000 (64 ranks, P99/50 of 1.5)", False),
                         (growth.found, growth.holds))
        self.assertEqual(("2.0000 (P99/50 of 1.5)", True),
                         (ring.found, ring.holds))
        self.assertEqual(("1.5000 (P99/50 of 1.5)", True),
                         (nccl.found, nccl.holds))

    def test_speed_has_a_range_over_seeds(self):
        rows = [made_up.simulated(
            name, 8, sum(times) / 2, tail=3.0, by_seed=[
                {"seed": seed, "mean_ms": ms, "failed": None}
                for seed, ms in enumerate(times)])
                for name, times in (("ring", (4, 6)), ("optireduce", (2, 2)))]
        self.assertEqual(
            ["2.5000 (2.000 to 3.000 with single seeds)"],
            [claim.found for claim in claims("scale",
                                             {"ways-100-from-8": rows})])

    def test_sizes_are_told_apart(self):
        text = tell("scale", {
            "ways-100-from-8": jobs((8, 1)),
            "ways-100-from-8-6250000-floats": jobs((8, 5), elements=6250000)})
        self.assertIn("### 100 Gbit/s, 4 MB, paths", text)
        self.assertIn("### 100 Gbit/s, 25 MB, paths", text)

    def test_tails_and_rates_have_sections_of_their_own(self):
        text = tell("scale", {
            "ways-100-from-8": jobs((8, 1)) + jobs((8, 2), tail=3.0),
            "ways-10-from-8": jobs((8, 9), gbit=10.0)})
        for title in ("100 Gbit/s, 4 MB, paths with a P99/50 of 1.5",
                      "100 Gbit/s, 4 MB, paths with a P99/50 of 3",
                      "10 Gbit/s, 4 MB, paths with a P99/50 of 1.5"):
            self.assertIn(f"### {title}\n", text)

    def test_bursts_of_all_ranks_are_of_one_section(self):
        text = tell("scale", {"bursts-p3-from-8": jobs((8, 130), lab="p3"),
                              "bursts-p3-from-128": jobs((128, 143),
                                                         lab="p3")})
        self.assertEqual(1, text.count("bursts of p3\n"))
        self.assertIn("1.10x, at most 1.10x (128 ranks)", text)

    def test_other_settings_have_sections_of_their_own(self):
        text = tell("scale", {
            "by-hand": jobs((8, 1), (64, 2), tail=3.0),
            "by-hand-from-512": jobs((512, 3), tail=3.0)})
        self.assertIn("### With a bound of 400 us", text)
        self.assertIn("with 512 ranks, relative to 8: median 3.00x", text)

    def test_what_failed_is_named_and_no_figure(self):
        text = tell("scale", {
            "ways-100-from-1024": jobs((1024, 4.5)) + jobs(
                (1024, 3.3), failed="it halted"),
            "bursts-p3-from-8": jobs((8, 7.7), failed="it timed out")})
        self.assertIn("| optireduce:none | 1024 | 4.500 |", text)
        self.assertNotIn("3.300", text)
        self.assertNotIn("7.700", text)
        self.assertIn("with 1024 ranks failed: it halted.", text)
        self.assertIn("with 8 ranks failed: it timed out.", text)


if __name__ == "__main__":
    junit_main.main()
