# SPDX-License-Identifier: Apache-2.0
"""benchmark/compare with its real worker and a real Redis."""
import contextlib
import io
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

from bench import compare
from bench.job import Job
from bench.private_redis import private_redis
from front_end.errors import UserError
from tests import junit_main
from tests.support.processes import is_alive

WORKER = os.path.abspath("benchmark/comparison/worker")
KEYS = (
    "algorithm transport repair ranks elements bytes iterations bounded_ops "
    "expired_ops bound_us p50_us p90_us p99_us p999_us mean_us slow_tenth_us "
    "step_mean_us step_slow_tenth_us "
    "algbw_bytes_per_s busbw_bytes_per_s cpu_s_per_gb "
    "peak_resident_bytes loss_fraction cut_fraction drift_fraction "
    "mse worst_se verified percentiles_us").split()
PNG = b"\x89PNG\r\n\x1a\n"


def run_without_worker(*argv):
    """Returns exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = compare.main(argv)
    return code, out.getvalue(), err.getvalue()


def run_compare(*argv):
    return run_without_worker("--binary", WORKER, *argv)


class Local(unittest.TestCase):
    def test_rows_table_and_plot(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.json")
            picture = os.path.join(folder, "cdf.png")
            with unittest.mock.patch.object(
                    compare, "_draw", wraps=compare._draw) as draw:
                code, out, err = run_compare(
                    "--ranks", "3", "--elements", "70000,65536", "--seconds",
                    "0.2", "--json", path, "--plot", picture)
            self.assertEqual(0, code, err)
            with open(path, encoding="utf-8") as file:
                written = json.load(file)
            with open(picture, "rb") as file:
                self.assertEqual(PNG, file.read(len(PNG)))
        self.check_origin(written["run"], out)
        rows = written["rows"]
        self.check_samples(rows, draw.call_args.args[0])
        self.assertIn("bcube is left out", err)  # 3 ranks
        self.assertEqual(KEYS, list(rows[0]))
        names = [row["algorithm"] for row in rows
                 if row["elements"] == 70000]
        self.assertEqual(["ring", "ring_chunked", "halving_doubling",
                          "transpose", "optireduce"], names)
        self.assertEqual(2 * len(names), len(rows))
        for row in rows:
            self.assertTrue(row["verified"], row)
            self.assertEqual(4 * row["elements"], row["bytes"])
            self.assertEqual(3, row["ranks"])
            self.assertGreater(row["p50_us"], 0)
            # It holds its inputs, its results and the data that checks them.
            self.assertGreater(row["peak_resident_bytes"], 2 * row["bytes"])
            self.assertLess(row["peak_resident_bytes"], 1 << 30)
            self.assertGreaterEqual(row["p99_us"], row["p50_us"])
            self.assertGreaterEqual(row["iterations"], 3)
            self.assertIn(row["algorithm"], out)
            if row["algorithm"] == "optireduce":
                self.assertEqual("ubt", row["transport"])
                self.assertEqual("broadcast", row["repair"])
                self.assertEqual(row["iterations"], row["bounded_ops"])
                self.assertGreater(row["bound_us"], 0)
            else:
                self.assertEqual(0, row["loss_fraction"])
                self.assertEqual(0, row["mse"])

    def check_origin(self, run, out):
        """Checks that the output begins with the origin of the rows."""
        first, second, *_ = out.splitlines()
        self.assertEqual(f"gloo_ubt {run['version']}, commit {run['commit']}, "
                         f"{run['date']}", first)
        self.assertEqual(f"3 ranks, {socket.gethostname()}: {run['machine']}",
                         second)

    def check_samples(self, rows, drawn):
        """Checks that the drawing shows every iteration of the rows."""
        self.assertEqual(
            [{key: row[key] for key in row if key != "percentiles_us"}
             for row in rows], [row for row, _ in drawn])
        for row, (_, samples) in zip(rows, drawn):
            self.assertEqual(101, len(row["percentiles_us"]))
            self.assertEqual(row["p50_us"], row["percentiles_us"][50])
            self.assertEqual(row["p99_us"], row["percentiles_us"][99])
            self.assertEqual(max(samples), row["percentiles_us"][100])
            self.assertEqual(row["iterations"], len(samples))
            self.assertGreater(min(samples), 0)
            self.assertIn(row["p50_us"], samples)
            self.assertAlmostEqual(
                1, sum(samples) / len(samples) / row["mean_us"])
            below = [s for s in samples if s <= row["p50_us"]]
            self.assertGreaterEqual(2 * len(below), len(samples))

    def test_one_rank_alone(self):
        code, _, err = run_compare(
            "--ranks", "1", "--elements", "100", "--seconds", "0.05",
            "--algorithms", "ring_chunked,transpose")
        self.assertEqual(0, code, err)

    def test_too_small_to_be_bounded(self):
        code, out, err = run_compare(
            "--ranks", "2", "--elements", "100", "--seconds", "0.05",
            "--algorithms", "transpose,optireduce:none")
        self.assertEqual(3, code)
        self.assertIn("not bounded", out)
        self.assertIn("optireduce:none with 100 elements: not bounded "
                      "(smaller than GLOO_UBT_MIN_BYTES", err)

    def test_lost_contributions_are_counted_and_verified(self):
        for hadamard in ("off", "on"):
            with self.subTest(hadamard=hadamard), unittest.mock.patch.dict(
                    os.environ, {"GLOO_UBT_FAULT": "loss:0.02,seed:7",
                                 "GLOO_UBT_HADAMARD": hadamard,
                                 "GLOO_UBT_MTU": "1500",  # many datagrams
                                 "GLOO_UBT_BOUND": "100ms"}):
                self._check_lost_contributions()

    def _check_lost_contributions(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.json")
            code, _, err = run_compare(
                "--ranks", "3", "--elements", "400000", "--seconds",
                "0.5", "--json", path, "--algorithms",
                "optireduce:none,optireduce:broadcast,optireduce:both")
            with open(path, encoding="utf-8") as file:
                none, broadcast, both = json.load(file)["rows"]
        self.assertEqual(0, code, err)
        # The lost amount is random, but the loss must be counted.
        self.assertGreater(none["loss_fraction"], 0)
        self.assertGreater(none["expired_ops"], 0)
        self.assertGreater(broadcast["loss_fraction"], 0)
        self.assertLess(both["loss_fraction"], none["loss_fraction"])
        self.assertGreater(none["mse"], 0)
        self.assertGreater(none["worst_se"], none["mse"])
        self.assertGreater(none["drift_fraction"], 0)

    def test_groups_lose_and_are_verified(self):
        # Groups that lack each other's sums (none) differ.
        for repair in ("broadcast", "none"):
            with self.subTest(repair=repair), unittest.mock.patch.dict(
                    os.environ, {"GLOO_UBT_FAULT": "loss:0.02,seed:7",
                                 "GLOO_UBT_MTU": "1500",  # many datagrams
                                 "GLOO_UBT_REPAIR": repair,
                                 "GLOO_UBT_BOUND": "100ms"}), \
                    tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "rows.json")
                code, _, err = run_compare(
                    "--ranks", "4", "--elements", "100000", "--seconds",
                    "0.5", "--json", path, "--algorithms",
                    "hierarchical_optireduce")
                self.assertEqual(0, code, err)
                with open(path, encoding="utf-8") as file:
                    [row] = json.load(file)["rows"]
                self.assertGreater(row["loss_fraction"], 0)

    def test_a_wrong_variable_is_named(self):
        with unittest.mock.patch.dict(
                os.environ, {"GLOO_UBT_REPAIR": "sometimes"}):
            code, _, err = run_compare()
        self.assertEqual(2, code)
        self.assertIn("GLOO_UBT_REPAIR", err)
        self.assertIn("sometimes", err)

    def test_a_bad_name_ends_it_before_any_rank_starts(self):
        with unittest.mock.patch.object(
                compare, "Job", side_effect=AssertionError("started")):
            code, _, err = run_compare("--algorithms", "ring,optireduce+x=1")
        self.assertEqual(2, code)
        self.assertIn("no setting 'x'", err)

    def test_wrong_arguments_build_nothing(self):
        with unittest.mock.patch.object(
                compare.bazel, "build",
                side_effect=AssertionError("built for nothing")):
            with self.assertRaises(SystemExit):
                run_without_worker("--elements", "none")
            self.assertEqual(0, run_without_worker("--only-check")[0])

    def test_settings_of_names_count_for_these_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.json")
            code, _, err = run_compare(
                "--ranks", "2", "--elements", "70000", "--seconds", "0.1",
                "--json", path, "--algorithms",
                "optireduce+repair=both,optireduce:none+without=window")
            self.assertEqual(0, code, err)
            with open(path, encoding="utf-8") as file:
                rows = json.load(file)["rows"]
        self.assertEqual(
            [("optireduce+repair=both", "both", True),
             ("optireduce:none+without=window", "none", True)],
            [(row["algorithm"], row["repair"], row["verified"])
             for row in rows])

    def test_the_worker_checks_names_itself(self):
        done = subprocess.run(
            [WORKER, "--rank", "0", "--size", "1", "--redis-url",
             "unix:///nowhere", "--algorithms", "rign"],
            stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(2, done.returncode)
        self.assertIn("no algorithm 'rign'", done.stderr)


class SeveralHosts(unittest.TestCase):
    def start(self, rank, url, *more):
        return subprocess.Popen(
            [sys.executable, "-m", "bench.compare", "--binary", WORKER,
             "--rank", str(rank), "--size", "2", "--redis-url", url,
             "--interface", "lo", "--seconds", "0.1",
             "--algorithms", "transpose", *more],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run_both(self, *of_rank):
        with private_redis() as redis:
            both = [self.start(rank, redis, *of_rank[rank])
                    for rank in (0, 1)]
            return [(*process.communicate(timeout=60), process.returncode)
                    for process in both]

    def test_rank_0_shows_the_table_and_writes_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.json")
            picture = os.path.join(folder, "cdf.png")
            options = ["--elements", "100", "--json", path, "--plot", picture]
            rank0, rank1 = self.run_both(options, options)
            self.assertEqual((0, 0), (rank0[2], rank1[2]),
                             rank0[1] + rank1[1])
            with open(path, encoding="utf-8") as file:
                rows = json.load(file)["rows"]
            with open(picture, "rb") as file:
                self.assertEqual(PNG, file.read(len(PNG)))
        self.assertEqual(["transpose"], [row["algorithm"] for row in rows])
        self.assertIn("transpose", rank0[0])
        self.assertEqual("", rank1[0])

    def test_other_ranks_write_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.json")
            size = ["--elements", "100"]
            rank0, rank1 = self.run_both(size, [*size, "--json", path])
            self.assertEqual((0, 0), (rank0[2], rank1[2]),
                             rank0[1] + rank1[1])
            self.assertEqual([], os.listdir(folder))

    def test_all_ranks_end_with_the_verdict(self):
        options = ["--elements", "100", "--algorithms", "optireduce:none"]
        rank0, rank1 = self.run_both(options, options)
        self.assertEqual((3, 3), (rank0[2], rank1[2]))
        self.assertIn("not bounded", rank0[1])
        self.assertIn("rank 0 says which", rank1[1])

    def test_different_options_are_named(self):
        started = time.monotonic()
        for _, error, code in self.run_both(
                ["--elements", "100"], ["--elements", "101"]):
            self.assertEqual(1, code)
            self.assertIn("--elements 101", error)
            self.assertIn("--elements 100", error)
        self.assertLess(time.monotonic() - started, 20)


class Faults(unittest.TestCase):
    OPTIONS = ["--interface", "lo", "--elements", "1000", "--seconds", "60",
               "--algorithms", "transpose"]

    def test_a_killed_rank_is_named_and_nothing_is_left(self):
        with private_redis() as redis:
            with Job([WORKER, "--size", "3", "--redis-url", redis,
                      *self.OPTIONS], 3, {}) as ranks:
                pids = ranks.pids()
                started = time.monotonic()
                with self.assertRaisesRegex(UserError,
                                            "^rank 1 was ended by SIGKILL"):
                    for event in ranks.lines():
                        if event["event"] == "progress":
                            os.kill(pids[1], signal.SIGKILL)
                self.assertLess(time.monotonic() - started, 20)
        self.assertEqual([], [p for p in pids if is_alive(p)])

    def test_an_interrupt_ends_everything(self):
        timer = threading.Timer(2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        code, _, err = run_compare(
            "--ranks", "2", "--elements", "1000", "--seconds", "60")
        self.assertEqual(130, code)
        self.assertIn("interrupted", err)

    def test_rows_before_an_interrupt_are_kept(self):
        def collect(job, sizes, per_size, counts, results):
            for row in job.lines():
                if row["event"] == "row":
                    results.append((row["row"], row.get("samples_us")))
                    if len(results) == 2:
                        raise KeyboardInterrupt

        with tempfile.TemporaryDirectory() as folder, \
                unittest.mock.patch.object(compare, "_collect", collect):
            path = os.path.join(folder, "rows.json")
            code, out, err = run_compare(
                "--ranks", "2", "--elements", "1000,1001,1002", "--seconds",
                "0.1", "--algorithms", "ring,transpose", "--json", path)
            with open(path, encoding="utf-8") as file:
                rows = json.load(file)["rows"]
        self.assertEqual(130, code)
        self.assertIn("not complete: 2 of 6 rows\ninterrupted", err)
        self.assertEqual([1000, 1000], [row["elements"] for row in rows])
        self.assertIn("transpose", out)

    def test_a_full_disk_leaves_the_table(self):
        for full in ("--json", "/dev/full"), ("--plot", "/dev/full.png"):
            with self.subTest(full), unittest.mock.patch.object(
                    compare.plot, "draw", side_effect=OSError(28, "full")), \
                    unittest.mock.patch.object(
                        compare.options, "check_results"):
                code, out, err = run_compare(
                    "--ranks", "2", "--elements", "1000", "--seconds", "0.1",
                    "--algorithms", "ring", *full)
                self.assertEqual(1, code)
                self.assertIn("ring", out)
                self.assertTrue(err.endswith(
                    f"error: {full[0]}: cannot write '{full[1]}' (no space "
                    "left on device)\n"), err)

    def test_redis_that_is_not_there(self):
        code, _, err = run_compare(
            "--rank", "0", "--size", "1", "--redis-url",
            "unix:///nowhere/redis.sock", "--interface", "lo")
        self.assertEqual(1, code)
        self.assertIn("/nowhere/redis.sock", err)


if __name__ == "__main__":
    junit_main.main()
