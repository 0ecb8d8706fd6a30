# SPDX-License-Identifier: Apache-2.0
import unittest

from tests import junit_main
from train_lib import runs, table

LINES = (
    {"steps": 30, "parameters": 100, "ranks": 4, "seed": 1, "torch": "1.13"},
    {"step": 10, "seconds": 1.0, "loss": 2.0},
    {"step": 15, "seconds": 1.5, "accuracy": 0.5},
    {"step": 20, "seconds": 2.0, "loss": 1.5},
    {"step": 30, "seconds": 3.75, "loss": 1.23456},
    {"step": 30, "seconds": 3.75, "accuracy": 0.87654},
    {"step": 30, "seconds": 4.0, "divergence": 0.00321})
ABOUT = {"model": "fashion", "algorithm": "ring", "seed": 7, "lost": None}


class Make(unittest.TestCase):
    def test_the_last_values_count(self):
        run = runs.make(ABOUT, LINES)
        self.assertEqual("ring", run["algorithm"])
        self.assertEqual(30, run["steps"])
        self.assertEqual(3.75, run["seconds"])
        self.assertEqual(125, run["ms_per_step"])
        self.assertEqual(1.23456, run["loss"])
        self.assertEqual(0.87654, run["accuracy"])
        self.assertEqual(0.00321, run["divergence"])

    def test_the_curves_are_whole(self):
        run = runs.make(ABOUT, LINES)
        self.assertEqual([10, 20, 30],
                         [point["step"] for point in run["losses"]])
        self.assertEqual([15, 30],
                         [point["step"] for point in run["accuracies"]])


class Render(unittest.TestCase):
    def test_a_line_a_run(self):
        run = runs.make(ABOUT, LINES)
        head, *lines = table.render(
            [run, {**run, "algorithm": "optireduce", "lost": 0.0421,
                   "divergence": 0.0}]).splitlines()
        self.assertEqual(
            "algorithm seed steps seconds ms a step loss accuracy lost "
            "divergence".split(), head.split())
        self.assertEqual(["ring", "7", "30", "3.8", "125.0", "1.235", "87.65",
                          "%", "3.2e-03"], lines[0].split())
        self.assertEqual("optireduce", lines[1].split()[0])
        self.assertEqual(["4.2", "%", "0"], lines[1].split()[-3:])
        self.assertEqual({len(head)}, set(map(len, lines)))

    def test_what_diverged(self):
        run = {**runs.make(ABOUT, LINES), "loss": float("nan")}
        self.assertIn(" nan ", table.render([run]))


if __name__ == "__main__":
    junit_main.main()
