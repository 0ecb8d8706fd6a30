# SPDX-License-Identifier: Apache-2.0
"""Reports, faults and wrong settings under the preloaded library. None of them
depends on PyTorch's version, so Debian's serves alone."""

import signal
import tempfile
import time
import unittest

from tests import junit_main
from tests.gloo_ext.ranks import PATIENT, Job

PYTHON = "/usr/bin/python3"  # tests/run installs its PyTorch


class Reports(unittest.TestCase):
    def test_lines_textfile_and_summary(self):
        with tempfile.TemporaryDirectory() as folder:
            with Job(PYTHON, "groups.py", 2, [folder]) as job:
                job.start_all(environment={**PATIENT,
                                           "GLOO_UBT_REPORT": folder})
                job.results()
                self.assertRegex(
                    job.output(0),
                    r"optireduce: [\d,]+ ops, 0 % missing, p50/p99 .* ms")
                self.assertNotIn("optireduce:", job.output(1))
            for rank in range(2):
                with open(f"{folder}/rank{rank}.jsonl") as lines:
                    self.assertIn('"ended_by":"complete"', lines.readline())
                with open(f"{folder}/rank{rank}.prom") as text:
                    self.assertIn(f'gloo_ubt_ops_total{{rank="{rank}"',
                                  text.read())


class Faults(unittest.TestCase):
    def test_a_dead_rank_is_named_within_a_second(self):
        with Job(PYTHON, "endless.py", 3) as job:
            job.start_all()
            for rank in range(3):
                job.await_text(rank, "going")
            job.processes[1].kill()
            died = time.monotonic()
            for rank in (0, 2):
                self.assertEqual(job.wait(rank, 30), 3, job.output(rank))
                raised = [line for line in job.output(rank).splitlines()
                          if line.startswith("raised at")][0]
                self.assertRegex(raised, "rank 1")
                at = float(raised.split()[2].rstrip(":"))
                self.assertLess(at - died, 1 + 2)  # margin for a busy machine

    def test_a_rank_without_the_library_is_named(self):
        with Job(PYTHON, "endless.py", 2) as job:
            job.start(0, environment={"GLOO_UBT_HANDSHAKE_TIMEOUT": "2s"})
            job.start(1, algorithm=None)
            self.assertEqual(job.wait(0), 3)
            self.assertRegex(job.output(0), "rank 1 has not answered: .*or it "
                                            "lacks this library")

    def test_a_silent_rank_is_named_after_ten_seconds_too(self):
        with Job(PYTHON, "endless.py", 2) as job:
            job.start(0, arguments=["13"])
            # Outlasts rank 0; otherwise its end would be the error.
            job.start(1, algorithm=None, arguments=["60"])
            self.assertEqual(job.wait(0), 3)
            self.assertRegex(
                job.output(0), "warning: bounded allreduce: rank 1 has not "
                "answered(.|\n)*raised at .*: .*rank 1 has not answered.*"
                "waited 13000 ms")

    def test_a_timeout_shorter_than_the_bound(self):
        with Job(PYTHON, "endless.py", 2, ["3"]) as job:
            job.start_all(environment={"GLOO_UBT_BOUND": "60s"})
            for rank in range(2):
                job.await_text(rank, "going")
            job.processes[1].send_signal(signal.SIGSTOP)
            # Completes as many calls as rank 1 may lag behind, then fails.
            self.assertEqual(job.wait(0, 60), 3)
            self.assertRegex(job.output(0), "raised at .*rank 1 ")

    def test_another_jobs_secret_is_named(self):
        with Job(PYTHON, "endless.py", 2) as job:
            job.start(0, environment={"GLOO_UBT_SECRET": "a"})
            job.start(1, environment={"GLOO_UBT_SECRET": "b"})
            for rank in range(2):
                self.assertEqual(job.wait(rank), 3)
                self.assertRegex(job.output(rank),
                                 f"rank {1 - rank} has another secret")

    def test_wrong_settings_are_named(self):
        for variable, text in (("GLOO_ALGO=optirduce", "did you mean optired"),
                               ("GLOO_UBT_REPAIR=no", "GLOO_UBT_REPAIR=no"),
                               ("GLOO_SOCKET_IFNAME=nosuch0", "nosuch0")):
            with self.subTest(variable), Job(PYTHON, "endless.py", 2) as job:
                job.start_all(environment=dict([variable.split("=")]))
                for rank in range(2):
                    self.assertNotEqual(job.wait(rank), 0)
                # A rank that fails at once may remove another's store.
                said = [text in job.output(rank) for rank in range(2)]
                self.assertTrue(any(said) if "IFNAME" in variable else
                                all(said), job.output(0) + job.output(1))


if __name__ == "__main__":
    junit_main.main()
