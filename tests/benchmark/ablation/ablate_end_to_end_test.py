# SPDX-License-Identifier: Apache-2.0
"""benchmark/ablate with the real simulator."""
import contextlib
import io
import json
import os
import signal
import tempfile
import threading
import unittest
import unittest.mock

import made_up_runs as made_up
from ablate_lib import __main__ as ablate
from ablate_lib.loops import LOOPS
from simulate_lib import simulator
from tests import junit_main

PNG = b"\x89PNG\r\n\x1a\n"
MEASURE = os.path.abspath("benchmark/measure")


def run_ablate(*argv):
    """Returns exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = ablate.main(["--binary", MEASURE, *argv])
    return code, out.getvalue(), err.getvalue()


class Simulator(unittest.TestCase):
    def ablate(self, *argv):
        """Returns the output of --json, and standard output."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.json")
            code, out, err = run_ablate("--seeds", "3", "--json", path, *argv)
            self.assertEqual(0, code, err)
            with open(path, encoding="utf-8") as file:
                return json.load(file), out

    def test_each_loop_has_its_rows_and_its_verdict(self):
        found, out = self.ablate("--environments", "lossy:0.3", "--elements",
                                 "5000", "--ops", "3")
        self.assertEqual(set(LOOPS), set(found["verdicts"]))
        jobs = {row["job"] for row in found["rows"]}
        self.assertEqual(3 * len(jobs), len(found["rows"]))
        for loop in LOOPS.values():
            name = f"{'-' if loop.is_default else '+'} {loop.name}"
            self.assertIn(name, jobs)
            self.assertIn(f"\n{name} ", out)
            self.assertIn(f"\n{loop.name} ", out)
        for row in found["rows"]:
            self.assertEqual(3, row["iterations"], row)
            self.assertIsNone(row["failed"])
            self.assertGreater(row["p50_ms"], 0)
        # A third of all packets is lost. Bounded results lack contributions
        # and have errors; exact results do not.
        by_job = {row["job"]: row for row in found["rows"]}
        self.assertGreater(by_job["baseline"]["loss_fraction"], 0)
        self.assertGreater(by_job["baseline"]["mse"], 0)
        self.assertGreater(by_job["baseline"]["worst_se"],
                           by_job["baseline"]["mse"])
        self.assertEqual(0, by_job["- bound"]["loss_fraction"])
        self.assertEqual(0, by_job["- bound"]["mse"])

    def test_the_same_seeds_give_the_same_figures(self):
        argv = ("--environments", "p1.5,straggler,lossy", "--elements", "5000",
                "--ops", "5", "--loops", "early,window")
        self.assertEqual(self.ablate(*argv), self.ablate(*argv))

    def test_draws_a_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "gains.png")
            self.ablate("--environments", "clean,lossy", "--elements", "5000",
                        "--ops", "3", "--loops", "early,x", "--plot", path)
            with open(path, "rb") as file:
                self.assertEqual(PNG, file.read(len(PNG)))

    def test_what_zeros_come_to_is_one(self):
        found, _ = self.ablate("--environments", "lossy:0.3", "--elements",
                               "5000", "--ops", "3", "--loops", "skip-loss")
        skipped = [row for row in found["rows"]
                   if row["job"] == "+ skip-loss"]
        for row in skipped:
            self.assertAlmostEqual(1, row["mse"])


class Faults(unittest.TestCase):
    def test_nothing_is_built_for_wrong_arguments(self):
        with unittest.mock.patch.object(
                ablate.bazel, "build",
                side_effect=AssertionError("built for nothing")):
            for argv, words in (
                    (("--environments", "mixed"), "try --in lab"),
                    (("--loops", "zero-loss", "--environments", "clean"),
                     "others with --environments")):
                err = io.StringIO()
                with contextlib.redirect_stderr(err):
                    self.assertEqual(2, ablate.main(argv))
                self.assertIn(words, err.getvalue())

    def test_a_simulator_that_fails_is_named(self):
        with tempfile.NamedTemporaryFile("w", suffix=".sh") as script:
            script.write("#!/bin/sh\necho 'error: no more memory' >&2\nexit 1")
            script.flush()
            with unittest.mock.patch.object(
                    simulator, "with_parent",
                    lambda command: ["sh", script.name]):
                code, _, err = run_ablate("--environments", "clean",
                                          "--loops", "early")
        self.assertEqual(1, code)
        self.assertIn("the simulator failed: error: no more memory", err)

    def test_a_broken_promise_is_an_error_after_all_is_shown(self):
        broken = made_up.run(failed="late", broken="a promise is broken")
        with unittest.mock.patch.object(
                ablate.simulated, "run_of", return_value=broken):
            code, out, err = run_ablate(
                "--environments", "clean", "--loops", "early", "--elements",
                "1000", "--ops", "1")
        self.assertEqual(1, code)
        self.assertIn("error: a promise is broken", err)
        self.assertIn("clean fails with it (late)", out)

    def test_an_interrupt_ends_everything(self):
        timer = threading.Timer(2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        code, _, err = run_ablate("--ops", "1000000")
        self.assertEqual(130, code)
        self.assertIn("interrupted", err)


if __name__ == "__main__":
    junit_main.main()
