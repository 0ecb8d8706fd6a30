# SPDX-License-Identifier: Apache-2.0
"""What the report says of trainings that lose what they were told to."""
import tempfile
import unittest

import made_up
from experiments_lib import harmless
from experiments_lib.pictures import Pictures
from tests import junit_main

NONE, BROADCAST = "optireduce:none", "optireduce:broadcast"


def run(accuracy, algorithm=NONE, **more):
    return made_up.training(algorithm, 1, [accuracy], **more)


def tell(**results):
    """By part; in their names underscores are hyphens."""
    with tempfile.TemporaryDirectory() as folder:
        return harmless.EXPERIMENT.tell(
            {name.replace("_", "-"): runs for name, runs in results.items()},
            Pictures(folder))


class Harmless(unittest.TestCase):
    def most(self, *accuracies):
        """Of no loss, 5 % and 10 %."""
        return harmless.harmless([
            (percent, run(accuracy))
            for percent, accuracy in zip((0, 5, 10), accuracies)], 0.8)

    def test_what_is_within_a_hundredth(self):
        self.assertEqual(10, self.most(0.8, 0.793, 0.81))
        self.assertEqual(5, self.most(0.8, 0.793, 0.78))

    def test_with_less_it_has_to_be_harmless_too(self):
        self.assertEqual(0, self.most(0.8, 0.78, 0.81))

    def test_what_diverged_is_not(self):
        self.assertEqual(0, self.most(0.8, float("nan")))


class Claims(unittest.TestCase):
    def test_the_curve_that_bears_least_counts(self):
        claim, = harmless.EXPERIMENT.claims({
            "random-0-plain": [run(0.8), run(0.8, BROADCAST)],
            "random-5-plain": [run(0.7), run(0.8, BROADCAST)]})
        self.assertEqual(("0 % where it is least (none, plain)", False),
                         (claim.found, claim.holds))

    def test_what_was_not_tried_did_no_harm(self):
        self.assertEqual([], harmless.EXPERIMENT.claims({
            "random-0-plain": [run(0.8)], "random-10-plain": [run(0.7)]}))

    def sizes(self, *bears):
        """What is claimed where models, in order, bear so much of 20 %."""
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
        self.assertIn("tried at most", claim.why)
        self.assertEqual([], self.sizes(5, 5))


class Tell(unittest.TestCase):
    def test_a_curve_of_each_policy_and_transform(self):
        text = tell(random_0_plain=[run(0.8), run(0.8, BROADCAST)],
                    random_5_plain=[run(0.7), run(0.8, BROADCAST)],
                    random_0_transformed=[run(0.81)],
                    random_5_transformed=[run(0.81)])
        self.assertIn("none, plain: 0 %; broadcast, plain: 5 %; none, "
                      "transformed: 5 %.", text)
        self.assertIn("It came to 80.00 to 81.00 %", text)
        self.assertIn("80.33 %, is what counts", text)
        self.assertIn("| none, plain | 5 % | 2 % | 70.00 % | 0.003 | 500.0 |",
                      text)
        self.assertIn("pictures/harmless-random.svg", text)
        self.assertNotIn("Tail loss", text)

    def test_tail_loss_compares_with_the_same_run_without(self):
        text = tell(random_0_plain=[run(0.8)], tail_5_plain=[run(0.8)])
        self.assertIn("### Tail loss", text)
        self.assertIn("none, plain: 5 %.", text)
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

    def test_what_is_dropped_is_told_beside_the_speed_up(self):
        text = tell(waits_for_all=[run(0.8, lost=None)],
                    bound_120_ms=[run(0.79, ms_per_step=400)])
        self.assertIn("| waits for all | 0 | 80.00 % | 1.000 |", text)
        self.assertIn("| bound 120 ms | 2 % | 79.00 % | 1.250 |", text)

    def test_nothing_is_told_of_what_was_not_measured(self):
        self.assertEqual("", tell(bound_120_ms=[run(0.8)]))


if __name__ == "__main__":
    junit_main.main()
