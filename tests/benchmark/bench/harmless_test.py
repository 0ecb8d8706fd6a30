# SPDX-License-Identifier: Apache-2.0
"""Trainings with forced loss."""
import unittest

import made_up
from bench.experiments import harmless
from tests import junit_main

NONE, BROADCAST = "optireduce:none", "optireduce:broadcast"


def run(accuracy, algorithm=NONE, **more):
    return made_up.training(algorithm, 1, [accuracy], **more)


def tell(**results):
    """`results`: by part; underscores in their names become hyphens."""
    return made_up.shown(harmless.EXPERIMENT, {
        name.replace("_", "-"): runs for name, runs in results.items()})


class Harmless(unittest.TestCase):
    def most(self, *accuracies):
        """With accuracies at no loss, 5 % and 10 %."""
        return harmless.harmless([
            (percent, run(accuracy))
            for percent, accuracy in zip((0, 5, 10), accuracies)], 0.8,
            (0, 5, 10))

    def test_what_is_within_a_hundredth(self):
        self.assertEqual(10, self.most(0.8, 0.793, 0.81))
        self.assertEqual(5, self.most(0.8, 0.793, 0.78))

    def test_with_less_it_has_to_be_harmless_too(self):
        self.assertEqual(0, self.most(0.8, 0.78, 0.81))

    def test_what_is_behind_a_gap_does_not_count(self):
        points = [(percent, run(0.8)) for percent in (0, 1, 5)]
        self.assertEqual(1, harmless.harmless(points, 0.8, (0, 1, 2, 5)))

    def test_what_diverged_is_not(self):
        self.assertEqual(0, self.most(0.8, float("nan")))


class Claims(unittest.TestCase):
    def tail(self, at_5, **more):
        """The claims about tail loss if a plain run at 5 % has this
        accuracy."""
        results = {f"{kind}-{percent}-{transform}": [run(0.8),
                                                     run(0.8, BROADCAST)]
                   for transform in ("plain", "transformed")
                   for kind, percent in (("random", 0), ("tail", 1),
                                         ("tail", 2), ("tail", 5))}
        results["tail-5-plain"][0] = run(at_5)
        return harmless.EXPERIMENT.claims({**results, **more})

    def test_the_curve_that_bears_least_counts(self):
        claim, = self.tail(0.7)
        self.assertEqual(
            ("least 2 % (none, plain), which lost up to 10.00 points; runs "
             "without forced loss differ by 0.00", False),
            (claim.found, claim.holds))
        claim, = self.tail(0.799)
        self.assertTrue(claim.holds)

    def test_chance_is_what_runs_without_loss_differ_by(self):
        claim, = self.tail(0.78, **{"random-0-transformed": [
            run(0.78), run(0.81, BROADCAST)]})
        self.assertIn("without forced loss differ by 3.00", claim.found)

    def test_it_does_not_hold_of_what_was_not_measured(self):
        claim, = self.tail(0.8, **{"tail-5-transformed": []})
        self.assertEqual("least 5 % (none, plain); not measured: "
                         "none, transformed; broadcast, transformed",
                         claim.found)
        self.assertFalse(claim.holds)

    def test_nothing_is_claimed_where_nothing_is_whole(self):
        self.assertEqual([], harmless.EXPERIMENT.claims({
            "random-0-plain": [run(0.8)], "random-10-plain": [run(0.7)]}))

    def sizes(self, *bears):
        """The claims if the models, in order, tolerate this share of 20 %."""
        return harmless.EXPERIMENT.claims({
            f"{model}-{percent}": [run(0.8 if percent <= most else 0.7)]
            for model, most in zip(("bible-small", "bible", "bible-large"),
                                   bears)
            for percent in (0, 5, 20)})

    def test_larger_models_bear_more_or_do_not(self):
        for bears, holds in (((0, 5, 20), True), ((5, 0, 20), False),
                             ((5, 5, 5), False)):
            claim, = self.sizes(*bears)
            self.assertEqual(holds, claim.holds, bears)
        claim, = self.sizes(20, 20, 20)
        self.assertFalse(claim.holds)
        self.assertEqual([], self.sizes(5, 5))


class Tell(unittest.TestCase):
    def test_a_curve_of_each_policy_and_transform(self):
        text = tell(random_0_plain=[run(0.8), run(0.8, BROADCAST)],
                    random_1_plain=[run(0.7), run(0.8, BROADCAST)],
                    random_0_transformed=[run(0.81)],
                    random_1_transformed=[run(0.81)])
        self.assertIn("none, plain: 0 %; broadcast, plain: 1 %; none, "
                      "transformed: 1 %.", text)
        self.assertIn("without forced loss: 80.00 to 81.00 %, mean 80.33 %",
                      text)
        self.assertIn("| none, plain | 1 % | 2 % | 70.00 % | 0.003 | 500.0 |",
                      text)
        self.assertIn("pictures/harmless.svg", text)
        self.assertNotIn("Tail loss", text)

    def test_tail_loss_compares_with_the_same_run_without(self):
        text = tell(random_0_plain=[run(0.8)], tail_1_plain=[run(0.8)])
        self.assertIn("### Tail loss", text)
        self.assertIn("none, plain: 1 %.", text)
        self.assertNotIn("Random loss", text)

    def test_each_size_is_compared_with_itself(self):
        text = tell(bible_0=[run(0.4)], bible_5=[run(0.4)],
                    bible_large_0=[run(0.5)], bible_large_5=[run(0.4)])
        self.assertIn("bible: 5 %; bible-large: 0 %.", text)

    def test_without_a_run_to_compare_with_nothing_is_harmless(self):
        for text in (tell(bible_5=[run(0.4)]),
                     tell(random_5_plain=[run(0.4)])):
            self.assertIn("| 5 % | 2 % |", text)
            self.assertNotIn("within 1 %", text)


if __name__ == "__main__":
    junit_main.main()
