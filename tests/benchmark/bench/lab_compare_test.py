# SPDX-License-Identifier: Apache-2.0
"""benchmark/compare in a lab, with its real worker."""
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

import namespaces_or_skip
import waiting
from tests import junit_main

WORKER = os.path.abspath("benchmark/comparison/worker")
_LIMIT_S = 120


def workers():
    """The number of processes that run the worker here."""
    count = 0
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                count += file.read().startswith(WORKER.encode())
        except (FileNotFoundError, ProcessLookupError):
            pass  # it has ended
    return count


@unittest.skipIf(namespaces_or_skip.why_not(), namespaces_or_skip.why_not())
class CompareTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.json = os.path.join(folder.name, "rows.json")

    def test_killed_it_leaves_no_files(self):
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.Popen(
                [sys.executable, "-B", "-m", "bench.compare", "--binary",
                 WORKER, "--lab", "clean", "--ranks", "2", "--seconds", "1000"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, start_new_session=True,
                env={**os.environ, "TMPDIR": folder,
                     "PYTHONPATH": os.pathsep.join(sys.path)})
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            waiting.wait_for(lambda: workers() >= 2, _LIMIT_S)
            process.kill()
            process.wait()
            waiting.wait_for(lambda: not workers(), _LIMIT_S)
            self.assertEqual([], os.listdir(folder))

    def compare(self, *argv, **environment):
        """Returns rows by algorithm, standard output and standard error."""
        done = subprocess.run(
            [sys.executable, "-B", "-m", "bench.compare", "--binary", WORKER,
             "--json", self.json, *argv], capture_output=True, text=True,
            check=False, timeout=_LIMIT_S,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path),
                 **environment})
        self.assertEqual(0, done.returncode, done.stderr)
        with open(self.json, encoding="utf-8") as file:
            rows = json.load(file)["rows"]
        return ({row["algorithm"]: row for row in rows}, done.stdout,
                done.stderr)

    def test_rows_say_where_and_what_went_over_the_wire(self):
        rows, out, _ = self.compare(
            "--lab", "clean", "--ranks", "3", "--elements", "1000000",
            "--lab-rate", "200", "--lab-seed", "7", "--seconds", "2",
            "--algorithms", "ring_chunked,transpose")
        for row in rows.values():
            self.assertTrue(row["verified"])
            self.assertEqual(("clean", 200, 7), (
                row["lab_environment"], row["lab_rate_mbit"],
                row["lab_seed"]))
            self.assertEqual([], row["flow_mbit"])
            self.assertIsNone(row["second_mbit"])
            self.assertIsNone(row["late_rank"])
            # A third of the 4 MB twice to each of two others, with 66 bytes of
            # headers for 1448 or 1460; with some retransmissions.
            ideal = 4 / 3 * 4e6 * 1514 / 1460
            self.assertGreater(row["wire_bytes_per_iteration"], 0.99 * ideal)
            self.assertLess(row["wire_bytes_per_iteration"], 1.2 * ideal)
            self.assertGreater(row["p50_us"], 0.95 * ideal * 8 / 200)
            self.assertGreater(row["wire_fraction"], 0.1)
            self.assertLess(row["wire_fraction"], 1.05)
            self.assertLessEqual(row["cpu_idle_fraction"], 1)
            self.assertGreaterEqual(row["cpu_idle_fraction"], 0)
        self.assertIn("in a lab: clean", out)
        self.assertIn("P99/50 here", out)

    def test_results_by_multicast_go_out_once(self):
        # By unicast an owner sends seven contributions and its result seven
        # times. Each is an eighth of 4 MB, with 74 bytes of headers for 1440.
        # By multicast it sends 8 of these 14 parts, or 11.5. The rest is for
        # repairs; a busy machine makes more of them.
        unicast = 14 / 8 * 4e6 * 1514 / 1440
        for deaf, share in (((), 0.75), (("--lab-deaf", "4-7"), 0.97)):
            rows, _, _ = self.compare(
                "--lab", "clean", "--seconds", "5", "--algorithms",
                "optireduce", *deaf, GLOO_UBT_MULTICAST="auto",
                GLOO_UBT_AUTH="full")
            row = rows["optireduce"]
            self.assertTrue(row["verified"])
            self.assertLess(row["wire_bytes_per_iteration"], share * unicast)
            self.assertGreater(row["wire_bytes_per_iteration"], unicast / 2)

    def test_a_late_rank_is_not_waited_for_in_the_figures(self):
        rows, out, _ = self.compare(
            "--lab", "straggler", "--ranks", "2", "--elements", "70000",
            "--seconds", "3", "--algorithms", "transpose")
        row = rows["transpose"]
        self.assertEqual(1, row["late_rank"])
        self.assertIn("rank 1 was late at times", out)
        self.assertLess(row["p50_us"], 250_000)
        self.assertGreater(row["p99_us"], 250_000)  # an exact one waits

    def test_anyone_may_be_late(self):
        rows, out, _ = self.compare(
            "--lab", "varying", "--ranks", "3", "--elements", "70000",
            "--seconds", "3", "--algorithms", "transpose")
        row = rows["transpose"]
        self.assertEqual("any", row["late_rank"])
        self.assertIn("some rank was late at times", out)
        self.assertLess(row["p50_us"], 250_000)
        self.assertGreater(row["p99_us"], 250_000)

    def test_settings_of_names_take_turns(self):
        names = ["optireduce", "optireduce+repair=none",
                 "optireduce+repair=none+gso=off"]
        rows, _, _ = self.compare(
            "--lab", "lossy:0.02", "--ranks", "4", "--elements", "400000",
            "--lab-seed", "3", "--seconds", "2", "--algorithms",
            ",".join(names))
        self.assertEqual(names, list(rows))
        # Two per cent are lost, half of them on the way to an owner.
        for row in rows.values():
            self.assertEqual(("lossy:0.02", 3), (row["lab_environment"],
                                                 row["lab_seed"]))
            self.assertTrue(row["verified"])
            self.assertGreater(row["loss_fraction"], 0.005)
            self.assertGreater(row["mse"], 0)
        self.assertEqual(0, rows["optireduce"]["drift_fraction"])
        self.assertGreater(rows[names[1]]["drift_fraction"], 0)

    def test_a_flow_next_to_it_is_reported(self):
        rows, out, _ = self.compare(
            "--lab", "mixed", "--ranks", "2", "--elements", "1000000",
            "--lab-rate", "200", "--seconds", "2", "--algorithms",
            "transpose")
        flow, = rows["transpose"]["flow_mbit"]
        self.assertGreater(flow, 5)
        self.assertLess(flow, 201)
        self.assertRegex(out, "(?s) flow.* Mbit/s\n")

    def test_a_second_job_shares_the_links(self):
        rows, out, _ = self.compare(
            "--lab", "clean", "--ranks", "2", "--elements", "400000",
            "--lab-rate", "200", "--seconds", "3", "--algorithms",
            "ring_chunked,optireduce", "--lab-second", "transpose")
        self.assertEqual({"ring_chunked", "optireduce"}, set(rows))
        for row in rows.values():
            # With two ranks, each sends as many bytes as it has.
            own = 8 * row["bytes"] / row["step_mean_us"]
            self.assertGreater(row["second_mbit"], 20)
            self.assertGreater(own, 20)
            self.assertLess(own + row["second_mbit"], 1.1 * 200)
        self.assertRegex(out, "(?s) second.* Mbit/s\n")

    def test_a_second_job_that_is_unknown_is_named(self):
        done = subprocess.run(
            [sys.executable, "-B", "-m", "bench.compare", "--binary", WORKER,
             "--lab", "clean", "--ranks", "2", "--lab-second", "rings"],
            capture_output=True, text=True, check=False, timeout=_LIMIT_S,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        self.assertEqual(2, done.returncode)
        self.assertIn("rings", done.stderr)


if __name__ == "__main__":
    junit_main.main()
