# SPDX-License-Identifier: Apache-2.0
import math
import unittest

import made_up_runs as made_up
from ablate_lib import plot, run, verdict
from ablate_lib.loops import LOOPS
from tests import junit_main

P50, _, LOSS, *_ = run.METRICS


def judge(name, plain, changed, environment="p3"):
    trial = made_up.trial(name, environment)
    return verdict.verdict(LOOPS[name], [trial],
                           made_up.results(trial, plain, changed))


class Percentile(unittest.TestCase):
    def test_is_a_value_that_was_measured(self):
        self.assertEqual(3, run.percentile([5, 3, 1, 4], 0.5))
        self.assertEqual(99, run.percentile(range(1, 101), 0.99))
        self.assertEqual(9, run.percentile(range(1, 11), 0.9))
        self.assertEqual(7, run.percentile([7], 0.99))


class Matters(unittest.TestCase):
    def test_what_all_seeds_agree_on(self):
        self.assertTrue(verdict.matters(P50, [100, 120, 110],
                                        [200, 222, 212]))

    def test_not_what_differs_as_much_between_seeds(self):
        self.assertFalse(verdict.matters(P50, [100, 120, 110],
                                         [200, 110, 120]))

    def test_seeds_may_differ_if_differences_do_not(self):
        self.assertTrue(verdict.matters(P50, [100, 900], [110, 911]))

    def test_not_a_trifle_however_sure(self):
        self.assertFalse(verdict.matters(P50, [100, 100], [100.5, 100.5]))
        self.assertFalse(verdict.matters(LOSS, [0, 0], [0.00005, 0.00005]))
        self.assertTrue(verdict.matters(LOSS, [0, 0], [0.0005, 0.0005]))


class Gain(unittest.TestCase):
    def test_is_how_much_more_there_is_without(self):
        trial = made_up.trial("multicast")
        of_trial = made_up.results(
            trial, made_up.runs(300, 300, loss=0.1, mse=0.2),
            made_up.runs(100, 100, loss=0.2))
        for name, expected in (("p50", 3), ("loss", 0.5), ("drift", 1),
                               ("mse", math.inf)):
            self.assertEqual({("multicast", "p3"): expected},
                             plot.gains(name, [trial], of_trial))


class Verdict(unittest.TestCase):
    def test_a_loop_that_pays_and_costs(self):
        text = judge("early", made_up.runs(100, 101, loss=0.02),
                     made_up.runs(300, 301, loss=0.01))
        self.assertEqual("pays: p3 p50 100.5 ms (300.5 without), "
                         "p3 p99 100.5 ms (300.5 without); "
                         "costs: p3 loss 0.02 (0.01 without)", text)

    def test_one_that_is_off_by_default_is_turned_round(self):
        text = judge("multicast", made_up.runs(300, 300),
                     made_up.runs(100, 100))
        self.assertIn("pays: p3 p50 100.0 ms (300.0 without)", text)

    def test_one_that_buys_nothing_is_reported_as_such(self):
        self.assertEqual(verdict.NOTHING, judge(
            "early", made_up.runs(100, 130), made_up.runs(120, 110)))
        text = judge("early", made_up.runs(100, 100, loss=0.02),
                     made_up.runs(100, 100, loss=0.01))
        self.assertEqual(f"{verdict.NOTHING}; costs: p3 loss 0.02 "
                         "(0.01 without)", text)

    def test_a_job_that_fails_without_it(self):
        text = judge("zero-loss", made_up.runs(100, 100),
                     made_up.runs(100, 100, failed="halted"), "lossy:0.6")
        self.assertEqual("lossy:0.6 fails without it (halted)", text)

    def test_one_that_could_not_be_judged(self):
        self.assertEqual(verdict.NOT_JUDGED, verdict.verdict(
            LOOPS["zero-loss"], [], made_up.plan.Results()))


if __name__ == "__main__":
    junit_main.main()
