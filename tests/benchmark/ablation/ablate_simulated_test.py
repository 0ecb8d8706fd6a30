# SPDX-License-Identifier: Apache-2.0
import unittest

from ablate_lib import simulated
from ablate_lib.environments import parse
from lab_lib import schedule
from tests import junit_main


def options(environment, seed=1):
    return simulated.options_of(parse(environment), seed, 1000, 10)


class Options(unittest.TestCase):
    def test_are_the_labs(self):
        found = options("clean")
        for name, value in {"ranks": "8", "bytes_per_second": "62500000.0",
                            "queue_bytes": "524288", "slot_bytes": "1440",
                            "elements_max": "1000", "ops": "30",
                            "warmup_ops": "20", "loss": "0"}.items():
            self.assertEqual(value, found[name], name)
        self.assertNotIn("burst_every_ns", found)
        self.assertNotIn("late_rank", found)

    def test_bursts_are_the_environments(self):
        found = options("p3")
        for name, value in {"burst_every_ns": "2000000000",
                            "burst_least_ns": "380000000",
                            "burst_most_ns": "430000000",
                            "burst_sources": "2",
                            "burst_share": "0.344"}.items():
            self.assertEqual(value, found[name], name)

    def test_who_is_late_is_who_is_in_the_lab(self):
        for seed in (1, 2, 3):
            late = schedule.late(parse("straggler"), seed, 8)
            found = options("straggler", seed)
            self.assertEqual(str(late.host), found["late_rank"])
            self.assertEqual("0.1", found["late_ops"])
            self.assertEqual("300000000", found["late_by_ns"])

    def test_loss_is_the_environments(self):
        self.assertEqual("0.001", options("lossy")["loss"])
        self.assertEqual("0.05", options("lossy:0.05")["loss"])


class Reports(unittest.TestCase):
    REPORT = {"op_ms": [1.0, 2.0], "loss_fraction": 0.25,
              "drift_fraction": 0.125, "mse": 0.5, "worst_se": 3.0,
              "errors": [], "violations": []}

    def test_become_runs(self):
        run = simulated.run_of(self.REPORT, "")
        self.assertEqual((1.0, 2.0, 0.25, 0.125, 0.5, 3.0, ""), (
            run.p50_ms, run.p99_ms, run.loss, run.drift, run.mse, run.worst,
            run.failed))

    def test_what_ended_a_job_is_kept(self):
        report = self.REPORT | {"errors": ["rank 3 halted", "and so did 4"]}
        self.assertEqual("rank 3 halted",
                         simulated.run_of(report, "").failed)

    def test_a_broken_promise_can_be_seen_again(self):
        report = self.REPORT | {"violations": ["a caller hangs"]}
        run = simulated.run_of(report, "seed=7")
        self.assertEqual("a caller hangs", run.failed)
        self.assertRegex(run.broken,
                         "a caller hangs.*--options 'seed=7'")


if __name__ == "__main__":
    junit_main.main()
