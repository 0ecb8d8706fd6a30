# SPDX-License-Identifier: Apache-2.0
"""benchmark/simulate with the real simulator."""
import contextlib
import io
import json
import os
import tempfile
import unittest
from unittest import mock

from bench import simulate, simulated_network
from bench.lab import schedule
from bench.lab.environments import parse
from tests import junit_main

MEASURE = os.path.abspath("benchmark/measure")
ALGORITHMS = ("ring", "ring_chunked", "halving_doubling", "bcube", "tree",
              "transpose", "hierarchical_transpose", "optireduce",
              "optireduce:none", "optireduce:broadcast", "optireduce:both",
              "hierarchical_optireduce:none")


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
                    for row in json.load(file)["rows"]}


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

    def test_other_options_reach_the_simulator(self):
        options = ("--algorithms", "optireduce", "--ranks", "8", "--elements",
                   "100000", "--ops", "5")
        name = ("optireduce", 8)
        plain, lossy = (rows_of(*options, *more)[name] for more in (
            (), ("--also", "loss=0.05,train_bytes=9000")))
        self.assertEqual(0, plain["loss_fraction"])
        self.assertGreater(lossy["loss_fraction"], 0.01)
        self.assertEqual({"loss": "0.05", "train_bytes": "9000"},
                         lossy["also"])

    def test_the_first_seed_may_be_chosen(self):
        options = ("--algorithms", "optireduce", "--ranks", "8", "--lab", "p3",
                   "--elements", "100000", "--ops", "5")
        name = ("optireduce", 8)
        both = rows_of(*options, "--seeds", "2")[name]["by_seed"]
        second = rows_of(*options, "--first-seed", "2")[name]["by_seed"]
        self.assertEqual(both[1:], second)

    def test_arrivals_are_recorded(self):
        options = ("--algorithms", "optireduce", "--ranks", "3", "--elements",
                   "100000", "--ops", "5")
        with tempfile.TemporaryDirectory() as folder:
            rows_of(*options, "--trace", folder)
            self.assertEqual(3, len(os.listdir(folder)))

    def test_only_one_job_is_recorded(self):
        error = io.StringIO()
        with contextlib.redirect_stderr(error), self.assertRaises(SystemExit):
            simulate.parse(["--ranks", "8", "--seeds", "2", "--algorithms",
                            "optireduce", "--trace", "/tmp"])
        self.assertIn("more than one job", error.getvalue())

    def test_each_rank_may_be_late_now_and_then(self):
        options = ("--algorithms", "ring,optireduce", "--ranks", "8",
                   "--elements", "100000", "--ops", "40")
        clean, jitter = (rows_of(*options, "--lab", lab)
                         for lab in ("clean", "jitter"))
        for name in (("ring", 8), ("optireduce", 8)):
            self.assertGreater(jitter[name]["step_mean_ms"],
                               clean[name]["step_mean_ms"] + 1)
        self.assertLess(jitter["optireduce", 8]["loss_fraction"], 0.03)

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
                file.write("#!/bin/sh\n[ $1 != --list-algorithms ] && kill -9 "
                           """$$\necho '{"chosen": ["ring"], "left_out": {}}'"""
                           )
            os.chmod(binary, 0o755)
            error = io.StringIO()
            with contextlib.redirect_stderr(error):
                code = simulate.main(["--binary", binary, "--algorithms",
                                      "ring", "--ranks", "4"])
        self.assertEqual(1, code)
        for said in ("it was killed", "--processes", "--algorithms ring"):
            self.assertIn(said, error.getvalue())


class Names(unittest.TestCase):
    def test_a_bad_name_ends_it_before_anything_is_simulated(self):
        for argv, words in (
                (("--algorithms", "rign"), "did you mean ring?"),
                (("--algorithms", "optireduce+mtu=1500"), "no setting mtu"),
                (("--algorithms", "tree+without=window"), "takes no settings"),
                (("--also", "lost=0.5"), "lost: no such option"),
                (("--also", "queue_bytes=1.5"), "queue_bytes=1.5: no value"),
                (("--algorithms", "halving_doubling", "--ranks", "6"),
                 "power of 2"),
                (("--algorithms", "hierarchical_transpose", "--ranks", "6"),
                 "--groups 4 divides")):
            error = io.StringIO()
            with contextlib.redirect_stderr(error), mock.patch.object(
                    simulate, "Simulator", side_effect=AssertionError):
                self.assertEqual(2, simulate.main(
                    ["--binary", MEASURE, *argv]))
            self.assertIn(words, error.getvalue())


class Errors(unittest.TestCase):
    OPTIONS = ("--ranks", "8", "--lab", "lossy:0.3", "--elements", "5000",
               "--ops", "3", "--seeds", "3", "--errors", "--algorithms")

    def rows(self, *names):
        return {name: row for (name, _), row in rows_of(
            *self.OPTIONS, ",".join(names)).items()}

    def test_settings_change_what_is_measured(self):
        rows = self.rows("optireduce", "optireduce+bound=30s+repair=both",
                         "optireduce+skip_loss=0.05", "optireduce:none")
        plain, exact, skipped, none = rows.values()
        # A third of all packets is lost. Bounded results lack contributions
        # and have errors; exact results do not.
        self.assertGreater(plain["loss_fraction"], 0)
        self.assertGreater(plain["worst_se"], plain["mse"])
        self.assertGreater(plain["mse"], 0)
        self.assertEqual(0, exact["loss_fraction"])
        self.assertEqual(0, exact["mse"])
        # Zeros in place of results have an error of 1.
        self.assertAlmostEqual(1, skipped["mse"])
        self.assertEqual(0, plain["drift_fraction"])
        self.assertGreater(none["drift_fraction"], 0)

    def test_each_seed_has_its_figures(self):
        row, = self.rows("optireduce").values()
        self.assertEqual([1, 2, 3], [own["seed"] for own in row["by_seed"]])
        self.assertAlmostEqual(row["mse"], sum(
            own["mse"] for own in row["by_seed"]) / 3)
        self.assertEqual(9, row["iterations"])

    def test_the_same_seeds_give_the_same_figures(self):
        first, second = (self.rows("optireduce+without=window") for _ in range(2))
        for rows in (first, second):
            for row in rows.values():
                del row["cpu_seconds"], row["peak_bytes"]
        self.assertEqual(first, second)


class Lab(unittest.TestCase):
    def options(self, name, seed=1):
        return simulated_network.lab_options(parse(name), seed, 8)

    def test_links_are_the_labs(self):
        found = self.options("clean")
        for name, value in {"bytes_per_second": 62500000.0,
                            "queue_bytes": 524288, "slot_bytes": 1440,
                            "loss": 0}.items():
            self.assertEqual(value, found[name], name)
        self.assertNotIn("burst_every_ns", found)
        self.assertNotIn("late_rank", found)

    def test_bursts_and_loss_are_the_environments(self):
        found = self.options("p3")
        for name, value in {"burst_every_ns": 2000000000,
                            "burst_least_ns": 380000000,
                            "burst_most_ns": 430000000,
                            "burst_sources": 2,
                            "burst_share": 0.344}.items():
            self.assertEqual(value, found[name], name)
        self.assertEqual(0.001, self.options("lossy")["loss"])
        self.assertEqual(0.05, self.options("lossy:0.05")["loss"])

    def test_the_late_rank_is_that_of_the_lab(self):
        for seed in (1, 2, 3):
            found = self.options("straggler", seed)
            self.assertEqual(schedule.late(parse("straggler"), seed, 8).who,
                             found["late_rank"])
            self.assertEqual(0.1, found["late_ops"])
            self.assertEqual(300000000, found["late_by_ns"])


class Reports(unittest.TestCase):
    REPORT = {"op_ms": [1.0], "step_ms": [1.0], "loss_fraction": 0,
              "cpu_seconds": 1, "peak_bytes": 1, "errors": [],
              "violations": []}

    def simulated(self, run, *argv):
        """Exit code, standard output and error with this Simulator.run()."""
        out, err = io.StringIO(), io.StringIO()
        with mock.patch.object(simulate.Simulator, "run", run), \
                contextlib.redirect_stdout(out), contextlib.redirect_stderr(
                    err):
            code = simulate.main(["--binary", MEASURE, "--ranks", "4", *argv])
        return code, out.getvalue(), err.getvalue()

    def test_broken_promises_are_errors_that_can_be_seen_again(self):
        def run(_, jobs, reports):
            reports[0] = {**self.REPORT, "errors": ["late"],
                          "violations": ["a caller hangs"]}

        code, _, error = self.simulated(
            run, "--algorithms", "optireduce+without=window")
        self.assertEqual(1, code)
        self.assertRegex(error, "breaks a promise.*a caller hangs"
                         ".*optireduce[+]without=window.*seed=1")

    def test_seeds_that_have_ended_are_kept_if_it_is_interrupted(self):
        def run(_, jobs, reports):
            self.assertEqual(6, len(jobs))
            reports |= {0: self.REPORT, 1: self.REPORT, 3: self.REPORT}
            raise KeyboardInterrupt

        code, out, error = self.simulated(
            run, "--algorithms", "ring,tree,transpose", "--seeds", "2")
        self.assertEqual(130, code)
        self.assertEqual("not complete: 3 of 6 runs\ninterrupted; all "
                         "processes have been ended\n", error)
        self.assertEqual([["tree", "1"], ["transpose", "2"]], [
            [line.split()[0], line.split()[3]]
            for line in out.splitlines()[-2:]])


if __name__ == "__main__":
    junit_main.main()
