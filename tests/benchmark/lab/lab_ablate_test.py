# SPDX-License-Identifier: Apache-2.0
"""benchmark/ablate in a lab, with its real worker."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import namespaces_or_skip
from ablate_lib import in_lab
from tests import junit_main

WORKER = os.path.abspath("benchmark/comparison/worker")
_LIMIT_S = 240


class RunOf(unittest.TestCase):
    ROW = {"algorithm": "job1", "loss_fraction": 0.25,
           "drift_fraction": 0.125, "mse": 0.5, "worst_se": 3.0,
           "transport": "ubt", "bounded_ops": 2, "verified": True}

    def test_is_the_workers_row(self):
        run = in_lab.run_of(self.ROW, [1000.0, 2000.0])
        self.assertEqual((1.0, 2.0, 0.25, 0.125, 0.5, 3.0, ""), (
            run.p50_ms, run.p99_ms, run.loss, run.drift, run.mse, run.worst,
            run.failed))

    def test_a_row_that_is_not_sound_has_failed(self):
        for change, word, broken in (
                ({"verified": False}, "WRONG", "job1: its results are WRONG"),
                ({"bounded_ops": 0}, "not bounded", "")):
            run = in_lab.run_of(self.ROW | change, [1.0])
            self.assertIn(word, run.failed)
            self.assertEqual(broken, run.broken)


@unittest.skipIf(namespaces_or_skip.why_not(), namespaces_or_skip.why_not())
class AblateTest(unittest.TestCase):
    def test_all_jobs_take_turns_in_each_environment(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.json")
            done = subprocess.run(
                [sys.executable, "-B", "-m", "ablate_lib", "--binary", WORKER,
                 "--in", "lab", "--environments", "clean,lossy:0.02",
                 "--loops", "fill,skip-loss", "--elements", "100000",
                 "--seconds", "1", "--seeds", "3", "--json", path],
                capture_output=True, text=True, check=False, timeout=_LIMIT_S,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
            self.assertEqual(0, done.returncode, done.stderr)
            with open(path, encoding="utf-8") as file:
                found = json.load(file)
        clean = ["baseline", "REPAIR=none", "- fill"]
        self.assertEqual(
            [("clean", job, seed) for job in clean for seed in (1, 2, 3)]
            + [("lossy:0.02", job, seed) for job in [*clean, "+ skip-loss"]
               for seed in (1, 2, 3)],
            [(row["environment"], row["job"], row["seed"])
             for row in found["rows"]])
        for row in found["rows"]:
            self.assertIsNone(row["failed"])
            self.assertGreater(row["p50_ms"], 0)
        self.assertEqual({"fill", "skip-loss"},
                         set(found["verdicts"]))
        # Two per cent are lost, half of them on the way to an owner.
        lossy = [row for row in found["rows"] if row["job"] == "baseline"
                 and row["environment"] == "lossy:0.02"]
        for row in lossy:
            self.assertGreater(row["loss_fraction"], 0.005)
            self.assertGreater(row["mse"], 0)


if __name__ == "__main__":
    junit_main.main()
