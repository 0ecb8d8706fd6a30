# SPDX-License-Identifier: Apache-2.0
import json
import unittest

import made_up_runs as made_up
from ablate_lib import table
from tests import junit_main


def render(trial, plain, changed):
    return table.render([trial], made_up.results(trial, plain, changed),
                        made_up.BASELINE)


class Render(unittest.TestCase):
    def test_without_a_loop(self):
        text = render(made_up.trial("early"),
                      made_up.runs(100, 102, loss=0.01),
                      made_up.runs(200, 204, loss=0.01))
        title, _, heading, baseline, changed = text.splitlines()
        self.assertIn("p3: a long burst", title)
        self.assertEqual(
            ["p3", "p50", "ms", "p99", "ms", "loss", "mse", "worst", "drift"],
            heading.split())
        self.assertEqual(["baseline", "101.0", "101.0", "0.01", "0", "0", "0"],
                         baseline.split())
        self.assertEqual(["-", "early", "202.0", "x2.00*", "202.0", "x2.00*",
                          "0.01", "x1.00"], changed.split()[:8])

    def test_with_one_that_is_off_by_default(self):
        text = render(made_up.trial("multicast"), made_up.runs(100, 100),
                      made_up.runs(100, 100))
        self.assertIn("+ multicast", text)

    def test_what_a_loop_works_beside_stands_above_it(self):
        text = render(made_up.trial("fill"), made_up.runs(100, 100, mse=2.0),
                      made_up.runs(100, 100, mse=0.5))
        lines = text.splitlines()[-2:]
        self.assertTrue(lines[0].startswith("REPAIR=none "))
        self.assertTrue(lines[1].startswith("- fill "))
        self.assertIn("x0.25*", lines[1])

    def test_a_difference_within_the_noise_has_no_mark(self):
        text = render(made_up.trial("early"), made_up.runs(100, 150),
                      made_up.runs(160, 140))
        self.assertIn("x1.20 ", text)
        self.assertNotIn("*", text)

    def test_a_job_that_failed(self):
        text = render(made_up.trial("halt-loss", "lossy:0.6"),
                      made_up.runs(100, 100, failed="halted"),
                      made_up.runs(100, 100))
        _, _, _, baseline, changed = text.splitlines()
        self.assertEqual(["baseline"] + 6 * ["failed"], baseline.split())
        self.assertNotIn("x", changed.removeprefix("- halt-loss"))


class Rows(unittest.TestCase):
    def test_one_for_each_job_and_seed(self):
        trial = made_up.trial("fill")
        rows = table.rows([trial], made_up.results(
            trial, made_up.runs(100, 110), made_up.runs(200, 210)),
            made_up.BASELINE, (1, 2))
        self.assertEqual(
            [(job, seed, ms) for job, first in (
                ("baseline", 100), ("REPAIR=none", 100), ("- fill", 200))
             for seed, ms in ((1, first), (2, first + 10))],
            [(row["job"], row["seed"], row["p50_ms"]) for row in rows])
        self.assertEqual("zero", rows[-1]["settings"]["GLOO_UBT_FILL"])
        json.dumps(rows, allow_nan=False)

    def test_nothing_measured_is_null(self):
        trial = made_up.trial("early")
        runs = [made_up.run(times_ms=[], failed="halted")]
        row = table.rows([trial], made_up.results(trial, runs, runs),
                         made_up.BASELINE, (1,))[0]
        self.assertIsNone(row["p50_ms"])
        self.assertEqual("halted", row["failed"])


if __name__ == "__main__":
    junit_main.main()
