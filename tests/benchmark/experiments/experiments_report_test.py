# SPDX-License-Identifier: Apache-2.0
import os
import re
import tempfile
import unittest

import made_up
from experiments_lib import report
from experiments_lib.measure import Failure
from experiments_lib.store import Store
from experiments_lib.suite import SUITE
from tests import junit_main

ROWS = [made_up.row("ring_chunked", 100), made_up.row("optireduce:none", 80)]
TRAININGS = [made_up.training(algorithm, seed, accuracies)
             for algorithm, accuracies in (("ring", [0.5, 0.8]),
                                           ("optireduce:none", [0.8, 0.8]),
                                           ("optireduce:broadcast",
                                            [0.1, 0.2]))
             for seed in (1, 2)]


class Report(unittest.TestCase):
    def write(self, experiment, results, failures=()):
        """Returns the Markdown and the page, of results by part."""
        with tempfile.TemporaryDirectory() as folder:
            store = Store(folder)
            for part in experiment.parts(False):
                if part.name in results:
                    store.put(experiment, part,
                              made_up.finding(part, results[part.name]))
            report.write(folder, [experiment], False, store, failures)
            texts = []
            for name in (report.MARKDOWN, report.PAGE):
                with open(os.path.join(folder, name),
                          encoding="utf-8") as file:
                    texts.append(file.read())
            for link in re.findall(r"\]\(([^)]*)\)", texts[0]):
                self.assertTrue(os.path.exists(os.path.join(folder, link)),
                                link)
            return texts

    def test_what_was_not_measured_is_said_and_not_drawn(self):
        broken, absent = made_up.part("broken"), made_up.part("absent")
        experiment = made_up.experiment(
            broken, absent, tell=lambda results, pictures: self.fail())
        text, page = self.write(experiment, {},
                                [Failure(experiment, broken, "it broke")])
        for shown in (text, page):
            self.assertIn("Not measured: broken", shown)
            self.assertIn("it broke", shown)
            self.assertIn("Not measured: absent.", shown)

    def test_a_failure_is_said_beside_what_was_measured_before(self):
        part = made_up.part("one")
        experiment = made_up.experiment(part)
        text, _ = self.write(experiment, {"one": [1]},
                             [Failure(experiment, part, "it broke")])
        self.assertIn("one, measured anew, failed: `it broke`", text)
        self.assertIn("2026-01-01", text)

    def test_of_few_iterations_the_slowest_is_called_so(self):
        text, _ = self.write(SUITE["stragglers"], {"late-rank": ROWS})
        self.assertIn("| worst ms |", text)
        many = [{**row, "iterations": 100} for row in ROWS]
        text, _ = self.write(SUITE["stragglers"], {"late-rank": many})
        self.assertIn("| p99 ms |", text)

    def test_the_page_needs_no_other_file_and_no_network(self):
        _, page = self.write(SUITE["stragglers"], {"late-rank": ROWS})
        self.assertIn("data:image/svg+xml;base64,", page)
        self.assertEqual([], re.findall(r'src="(?!data:)', page))
        self.assertNotIn("<link", page)
        self.assertNotIn("<script", page)
        self.assertIn("<table>", page)

    def test_a_row_says_how_it_compares_and_how_to_repeat_it(self):
        text, page = self.write(SUITE["stragglers"], {"late-rank": ROWS})
        self.assertRegex(text, r"\| optireduce:none \| 80.00 \| 240.0 \| "
                               r"3.000 \| 83.20 \| 1.250 \| 0.1 % \| 50 \|")
        self.assertIn("benchmark/compare --lab straggler", text)
        self.assertIn("0123456789ab", text)
        self.assertIn("2 x CPU", page)

    def test_the_same_results_give_the_same_report(self):
        first, second = (self.write(SUITE["stragglers"], {"late-rank": ROWS})
                         for _ in range(2))
        self.assertEqual(first, second)

    def test_each_environment_of_the_tails_has_its_section(self):
        names = [part.name for part in SUITE["tails"].parts(False)]
        text, _ = self.write(SUITE["tails"], {name: ROWS for name in names})
        for environment in ("clean", "p1.5", "p3", "micro"):
            self.assertIn(f"### {environment}\n", text)
        self.assertEqual(len(names), text.count("8 ranks, 1000000 floats:"))

    def test_a_target_that_some_seed_misses_is_never_reached(self):
        text, _ = self.write(SUITE["accuracy"], {"fashion-clean": TRAININGS})
        self.assertIn("Target: an accuracy of 0.792.", text)
        self.assertRegex(text, r"\| optireduce:none \| 80.0 % \| 500.0 \| "
                               r"10.00 \| 5.000 \| 2.000 \| 2 \|")
        self.assertRegex(text, r"\| optireduce:broadcast \| 20.0 % \| 500.0 \|"
                               r" never \| never \|  \| 2 \|")

    def test_without_ring_in_clean_there_is_no_target(self):
        text, _ = self.write(SUITE["accuracy"], {"fashion-p3": TRAININGS})
        self.assertIn("No target", text)


if __name__ == "__main__":
    junit_main.main()
