# SPDX-License-Identifier: Apache-2.0
"""How reports tell what was simulated."""
import tempfile
import unittest

import made_up
from experiments_lib.pictures import Pictures
from experiments_lib.suite import SUITE
from tests import junit_main


def tell(experiment, results):
    with tempfile.TemporaryDirectory() as folder:
        return SUITE[experiment].tell(results, Pictures(folder))


def jobs(*jobs_ms, iterations=30, **more):
    """Of optireduce:none, by (ranks, ms)."""
    return [made_up.simulated("optireduce:none", ranks, ms,
                              iterations=iterations, **more)
            for ranks, ms in jobs_ms]


class Scale(unittest.TestCase):
    def test_growth_is_that_of_the_worst_number_of_ranks(self):
        text = tell("scale", {"ways-100-from-8": jobs((8, 1), (64, 1.4)),
                              "ways-100-from-256": jobs((256, 1.1),
                                                        iterations=10)})
        self.assertIn("with 256 ranks, of what it takes with 8", text)
        self.assertIn("1.100 times, at most 1.400 times (64 ranks)", text)
        self.assertIn("the slowest of 10, for one of 30", text)
        self.assertIn("more than the 1.3 hoped for", text)
        self.assertIn("| slowest ms |", text)
        text = tell("scale", {"ways-100-from-8": jobs((8, 1), (64, 1.2),
                                                      iterations=100)})
        self.assertIn("within the 1.3 hoped for", text)
        self.assertIn("| p99 ms |", text)

    def test_tails_and_rates_have_sections_of_their_own(self):
        text = tell("scale", {
            "ways-100-from-8": jobs((8, 1)) + jobs((8, 2), tail=3.0),
            "ways-10-from-8": jobs((8, 9), gbit=10.0)})
        for title in ("100 Gbit/s, ways with a P99/50 of 1.5",
                      "100 Gbit/s, ways with a P99/50 of 3",
                      "10 Gbit/s, ways with a P99/50 of 1.5"):
            self.assertIn(f"### {title}\n", text)

    def test_a_larger_window_is_compared_with_the_same_jobs(self):
        text = tell("scale", {
            "ways-100-from-8": jobs((8, 1), (64, 2), tail=3.0),
            "window": jobs((8, 1), (64, 1.5), tail=3.0)})
        self.assertIn("Of the p50 with 2 MiB that is 1.000 (8 ranks), 0.750 "
                      "(64 ranks).", text)

    def test_what_failed_is_named_and_no_figure(self):
        text = tell("scale", {
            "large": jobs((1024, 4.5)) + jobs((1024, 3.3), failed="it halted"),
            "bursts-p3": jobs((8, 7.7), failed="it timed out")})
        self.assertIn("| optireduce:none | 4.500 |", text)
        self.assertNotIn("3.300", text)
        self.assertNotIn("7.700", text)
        self.assertIn("with 1024 ranks failed: it halted.", text)
        self.assertIn("with 8 ranks failed: it timed out.", text)


class Validation(unittest.TestCase):
    def test_ratios_are_counted_that_are_close(self):
        text = tell("validation", {
            "lab-p3": [made_up.row("ring_chunked", 100)],
            "simulated-p3": [made_up.simulated("ring", 8, 110)]})
        # A made-up row's p99 is thrice its p50, a simulated one's its p50.
        self.assertIn("| p3, ring | 50 | 30 | 100.0 | 110.0 | 300.0 | 110.0 | "
                      "1.100 | 0.367 |", text)
        self.assertIn("1 of 2 ratios are within 15 %", text)

    def test_without_the_one_or_the_other_there_is_nothing_to_say(self):
        self.assertEqual("", tell("validation", {
            "lab-p3": [made_up.row("ring_chunked", 100)]}))


if __name__ == "__main__":
    junit_main.main()
