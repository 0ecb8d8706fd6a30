# SPDX-License-Identifier: Apache-2.0
import os
import unittest
import unittest.mock

from ablate_lib import arguments
from ablate_lib.loops import LOOPS
from front_end.errors import UserError
from tests import junit_main
from tests.support import usage


def error_of(*argv):
    return usage.error_of(arguments.parse, argv)


class Defaults(unittest.TestCase):
    def test_all_loops_in_the_simulator(self):
        parsed = arguments.parse([])
        self.assertEqual("simulator", parsed.place)
        self.assertEqual(list(LOOPS.values()), parsed.loops)
        self.assertEqual(1000000, parsed.elements)
        self.assertEqual(
            ["clean", "p1.5", "p3", "micro", "straggler", "lossy",
             "lossy:0.05", "lossy:0.6"],
            [environment.name for environment in parsed.environments])

    def test_a_share_to_lose(self):
        environment, = arguments.parse(
            ["--environments", "lossy:0.25"]).environments
        self.assertEqual(0.25, environment.loss)
        self.assertEqual("25 % of all packets are lost", environment.what)


class Mistakes(unittest.TestCase):
    def test_each_names_culprit_and_remedy(self):
        for argv, culprit, remedy in (
                (["--loops", "erly"], "'erly'", "did you mean early?"),
                (["--loops", "x,x"], "--loops", "only once"),
                (["--environments", "p4"], "'p4'", "There are: clean"),
                (["--environments", "p3:0.1"], "'p3:0.1'", "lossy:0.05"),
                (["--environments", "lossy:1"], "'lossy:1'", "below 1"),
                (["--environments", "lossy:x"], "'lossy:x'", "lossy:0.05"),
                (["--in", "cloud"], "'cloud'", "simulator, lab"),
                (["--repair", "some"], "'some'", "broadcast"),
                (["--seeds", "1"], "--seeds 1", "at least 3"),
                (["--ops", "0"], "'0'", "above 0"),
                (["--seconds", "5"], "--seconds", "--in lab"),
                (["--in", "lab", "--ops", "5"], "--ops", "--in simulator"),
                (["--plot", "x.txt"], "'x.txt'", ".png"),
                (["--json", "/nowhere/x"], "/nowhere", "elsewhere")):
            with self.subTest(argv=argv):
                text = error_of(*argv)
                self.assertIn(culprit, text)
                self.assertIn(remedy, text)

    def test_the_lab_needs_root(self):
        with unittest.mock.patch.object(os, "geteuid", return_value=1000):
            text = error_of("--in", "lab")
        self.assertIn("needs root", text)
        self.assertIn("sudo", text)

    def test_the_simulator_knows_no_flows(self):
        with self.assertRaisesRegex(UserError, "mixed: .*--in lab"):
            arguments.parse(["--environments", "mixed"])


if __name__ == "__main__":
    junit_main.main()
