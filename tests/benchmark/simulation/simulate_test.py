# SPDX-License-Identifier: Apache-2.0
"""benchmark/simulate with the real simulator."""
import contextlib
import io
import json
import os
import tempfile
import unittest

from simulate_lib import __main__ as simulate
from simulate_lib import arguments
from simulate_lib.jobs import ALGORITHMS
from tests import junit_main
from tests.support import usage

MEASURE = os.path.abspath("benchmark/measure")


def rows_of(*argv):
    """The rows of --json, by (algorithm, ranks)."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.json")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = simulate.main(["--binary", MEASURE, "--json", path, *argv])
        assert code == 0, out.getvalue()
        with open(path, encoding="utf-8") as file:
            return {(row["algorithm"], row["ranks"]): row
                    for row in json.load(file)}


class Rows(unittest.TestCase):
    def test_every_algorithm_at_every_size(self):
        rows = rows_of("--algorithms", ",".join(ALGORITHMS), "--ranks", "4,8",
                       "--elements", "100000", "--ops", "3", "--seeds", "2",
                       "--groups", "2")
        self.assertEqual(2 * len(ALGORITHMS), len(rows))
        for row in rows.values():
            self.assertEqual(6, row["iterations"], row)
            self.assertEqual(101, len(row["percentiles_ms"]))
            self.assertGreater(row["p50_ms"], 0)
            self.assertIsNone(row["failed"])
            self.assertLess(row["loss_fraction"], 0.05)
            self.assertGreater(row["cpu_seconds"], 0)
            self.assertGreater(row["peak_bytes"], 1 << 20)

    def test_a_tail_costs_a_ring_more_than_a_transpose(self):
        options = ("--algorithms", "ring,transpose", "--ranks", "32",
                   "--elements", "10000", "--every", "0.5")
        plain, tailed = rows_of(*options), rows_of(*options, "--tail", "3")
        ring, transpose = (
            tailed[name, 32]["p50_ms"] - plain[name, 32]["p50_ms"]
            for name in ("ring", "transpose"))
        self.assertGreater(ring, 2 * transpose)
        self.assertGreater(transpose, 0)


    def test_a_burst_of_the_lab_costs_a_ring_its_tail(self):
        options = ("--algorithms", "ring", "--ranks", "8", "--elements",
                   "100000", "--ops", "200")
        quiet, bursts = (rows_of(*options, "--lab", name)["ring", 8]
                         for name in ("clean", "p3"))
        self.assertLess(quiet["p99_ms"], 1.1 * quiet["p50_ms"])
        self.assertGreater(bursts["p99_ms"], 2 * quiet["p99_ms"])
        self.assertEqual("p3", bursts["lab"])


    def test_a_bound_set_by_hand_ends_stages(self):
        options = ("--algorithms", "ring,optireduce:none", "--ranks", "8",
                   "--elements", "100000", "--ops", "5")
        learned = rows_of(*options)
        by_hand = rows_of(*options, "--bound", "150")
        name = ("optireduce:none", 8)
        self.assertLess(by_hand[name]["p99_ms"], learned[name]["p50_ms"])
        self.assertGreater(by_hand[name]["loss_fraction"],
                           learned[name]["loss_fraction"])
        self.assertEqual(150, by_hand[name]["bound_us"])
        self.assertIsNone(by_hand["ring", 8]["bound_us"])

    def test_who_looks_seldom_takes_longer(self):
        options = ("--algorithms", "optireduce:none", "--ranks", "8",
                   "--elements", "10000", "--ops", "5", "--looks")
        times = [rows_of(*options, us)["optireduce:none", 8]["p50_ms"]
                 for us in ("0", "20", "200")]
        self.assertEqual(times, sorted(times))
        self.assertLess(times[0], times[2])

    def test_memory_is_the_simulations_own(self):
        ballast = os.urandom(100 << 20)  # memory of the parent process
        row, = rows_of("--algorithms", "ring", "--ranks", "4", "--elements",
                       "1000", "--ops", "1").values()
        self.assertLess(row["peak_bytes"], len(ballast))


class Failures(unittest.TestCase):
    def test_a_dead_simulator_is_named_with_its_job(self):
        with tempfile.TemporaryDirectory() as folder:
            binary = os.path.join(folder, "measure")
            with open(binary, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\nkill -9 $$\n")
            os.chmod(binary, 0o755)
            error = io.StringIO()
            with contextlib.redirect_stderr(error):
                code = simulate.main(["--binary", binary, "--algorithms",
                                      "ring", "--ranks", "4"])
        self.assertEqual(1, code)
        for said in ("it was killed", "--processes", "--algorithm ring"):
            self.assertIn(said, error.getvalue())


class Mistakes(unittest.TestCase):
    def test_each_names_culprit_and_remedy(self):
        for argv, culprit, remedy in (
                (["--algorithms", "rign"], "'rign'", "did you mean ring?"),
                (["--ranks", "1"], "'1'", "from 2 to 4096"),
                (["--bound", "0"], "'0'", "from 1 to"),
                (["--ranks", "8,8"], "--ranks", "only once"),
                (["--tail", "0.5"], "'0.5'", "at least 1"),
                (["--mtu", "100"], "--mtu 100", "from 576"),
                (["--elements", "5000000000"], "'5000000000'", "from 1 to"),
                (["--latency", "0.0001"], "--latency", "a nanosecond"),
                (["--every", "0.0000001"], "--every", "a nanosecond"),
                (["--looks", "-1"], "'-1'", "from 0 on"),
                (["--lab", "mixed"], "'mixed'", "clean"),
                (["--lab", "varying"], "'varying'", "clean"),
                (["--lab", "p3", "--gbit", "10"], "--gbit", "leave out one"),
                (["--lab", "p3", "--ranks", "2"], "--ranks 2", "takes 3"),
                (["--algorithms", "halving_doubling", "--ranks", "6"],
                 "halving_doubling", "power of 2"),
                (["--algorithms", "hierarchical_transpose", "--ranks", "6"],
                 "hierarchical_transpose", "--groups 4 divides"),
                (["--json", "/nowhere/x"], "--json", "elsewhere")):
            error = usage.error_of(arguments.parse, argv)
            self.assertIn(culprit, error)
            self.assertIn(remedy, error)


if __name__ == "__main__":
    junit_main.main()
