# SPDX-License-Identifier: Apache-2.0
import dataclasses
import unittest

from bench import compare, plot, table, train
from bench.lab import accounts
from bench.lab.environments import ENVIRONMENTS
from bench.lab.settings import Settings
from front_end.columns import three_digits
from tests import junit_main


def row(**changes):
    values = {
        "algorithm": "ring", "transport": "tcp", "repair": None, "ranks": 4,
        "elements": 65536, "bytes": 262144, "iterations": 1500,
        "bounded_ops": 0, "expired_ops": 0, "bound_us": None,
        "p50_us": 1234.5, "p90_us": 20000.0, "p99_us": 300000.0,
        "p999_us": 4000000.0, "mean_us": 1500.0,
        "algbw_bytes_per_s": 2.5e8, "busbw_bytes_per_s": 3.75e8,
        "cpu_s_per_gb": 1.25, "loss_fraction": 0.0, "verified": True}
    values.update(changes)
    return values


def bounded(**changes):
    return row(**{"algorithm": "optireduce", "transport": "ubt",
                  "repair": "broadcast", "bounded_ops": 1500,
                  "bound_us": 5000.0, **changes})


class Numbers(unittest.TestCase):
    def test_bytes(self):
        self.assertEqual("16 KiB", table.human_bytes(16384))
        self.assertEqual("25 MiB", table.human_bytes(26214400))
        self.assertEqual("1.5 GiB", table.human_bytes(3 << 29))
        self.assertEqual("12 B", table.human_bytes(12))

    def test_three_digits(self):
        for value, text in ((0.04, "0.040"), (1.2345, "1.234"),
                            (12.345, "12.35"), (123.45, "123.5"),
                            (1234.5, "1234"), (None, "")):
            self.assertEqual(text, three_digits(value))


class Render(unittest.TestCase):
    def test_columns_line_up(self):
        text = compare.render([row(), row(algorithm="halving_doubling")], True)
        *headings, first, second = filter(None, text.splitlines())
        self.assertEqual(len(headings[-1]), len(first))
        self.assertEqual(len(first), len(second))
        self.assertEqual(
            ["ring", "tcp", "256", "KiB", "1500", "1.234", "20.00", "300.0",
             "4000", "0.250", "0.375", "1.250", "0", "yes"], first.split())

    def test_wide_headings_take_several_lines(self):
        lines = table.render(
            [("name", str), ("slow tenth ms", str), ("n", str)],
            ["ab", "abc"], words=1).splitlines()
        self.assertEqual(["       slow",
                          "      tenth",
                          "name     ms    n",
                          "ab       ab   ab",
                          "abc     abc  abc"], lines)

    def test_fits_a_hundred_characters(self):
        own = bounded(algorithm="optireduce:broadcast", loss_fraction=1.2e-5)
        for rows in [own], [{**LabTable.ROW, **own}]:
            narrow, wide = (
                max(map(len, compare.render(rows, wide).splitlines()))
                for wide in (False, True))
            self.assertLessEqual(narrow, 100)
            self.assertGreater(wide, 100)

    def test_no_percentile_of_too_few_iterations(self):
        def percentiles(text):
            return [word for word in text.splitlines()[-1].split()
                    if word in ("1.234", "20.00", "300.0", "4000")]

        self.assertEqual(["1.234", "20.00", "300.0"], percentiles(
            compare.render([row(p999_us=None, iterations=100)], True)))
        self.assertEqual(["1.234", "20.00"], percentiles(
            compare.render([row(p999_us=None, iterations=99)], True)))
        self.assertEqual(["1.234"], percentiles(
            compare.render([row(p999_us=None, iterations=9)], True)))

    def test_sizes_stand_apart(self):
        text = compare.render([row(), row(), row(bytes=1024)])
        self.assertEqual(2, text.count("\n\n"))

    def test_bound_only_where_there_is_one(self):
        self.assertNotIn("bound", compare.render([row()]))
        text = compare.render([row(), bounded(expired_ops=7)], True)
        self.assertIn("bounded  expired", text)
        self.assertEqual(["5.000", "1500", "7"],
                         text.splitlines()[-1].split()[-3:])

    def test_loss(self):
        self.assertIn(" 0.0012 ", compare.render(
            [bounded(loss_fraction=0.00123)]))


class Verdict(unittest.TestCase):
    def test_right(self):
        self.assertEqual("yes", compare.verdict(row()))
        self.assertEqual("yes", compare.verdict(bounded()))

    def test_wrong(self):
        self.assertEqual("WRONG", compare.verdict(bounded(verified=False)))

    def test_bounded_in_name_only(self):
        self.assertEqual("not bounded", compare.verdict(bounded(bounded_ops=0)))

class Percentile(unittest.TestCase):
    def test_is_a_value_that_was_measured(self):
        self.assertEqual(3, table.percentile([5, 3, 1, 4], 0.5))
        self.assertEqual(99, table.percentile(range(1, 101), 0.99))
        self.assertEqual(9, table.percentile(range(1, 11), 0.9))
        self.assertEqual(7, table.percentile([7], 0.99))
        self.assertEqual([], table.percentiles([]))
        self.assertEqual(list(range(101)), table.percentiles(range(101)))


class Slowest(unittest.TestCase):
    def test_is_a_share_and_one_at_least(self):
        self.assertEqual(9.5, table.mean_of_slowest(range(1, 11), .2))
        self.assertEqual(4, table.mean_of_slowest([4, 1, 2], .1))
        self.assertIsNone(table.mean_of_slowest([], .1))


class Survival(unittest.TestCase):
    def test_begins_with_all(self):
        self.assertEqual(([1, 2, 2, 5], [1, .75, .5, .25]),
                         plot.survival([2, 5, 1, 2]))

    def test_an_algorithm_has_the_same_colour_with_settings(self):
        self.assertEqual(plot.colour("optireduce"),
                         plot.colour("optireduce+gso=off"))
        self.assertNotEqual(plot.colour("ring"), plot.colour("transpose"))


def lab(name):
    return Settings(ENVIRONMENTS[name])


def ring(p50=117000, p99=351000, iterations=100, **changes):
    return {"algorithm": "ring_chunked", "elements": 1000000, "p50_us": p50,
            "p99_us": p99, "iterations": iterations,
            "cpu_others_fraction": 0.31, "cpu_idle_fraction": 0.02, **changes}


class Check(unittest.TestCase):
    def test_as_it_should_be(self):
        check = accounts.check(lab("p3"), [ring(algorithm="ring"), ring()])
        self.assertEqual("ring_chunked's P99/50 here: 3.00 (p3: 2.5 to 3.5)",
                         check.text)
        self.assertIsNone(check.warning)

    def test_off(self):
        for name, p99 in (("p3", 200000), ("p3", 500000), ("clean", 200000),
                          ("p1.5", 351000)):
            warning = accounts.check(lab(name), [ring(p99=p99)]).warning
            self.assertIn(f"not {name}", warning)
            self.assertIn("took 31% meanwhile, and 2% were idle", warning)

    def test_too_few_to_tell(self):
        warning = accounts.check(lab("p3"), [ring(iterations=20)]).warning
        self.assertIn("too few", warning)
        self.assertIn("--seconds", warning)

    def test_promised_for_one_network_alone(self):
        others = dataclasses.replace(lab("p3"), hosts=4)
        check = accounts.check(others, [ring(p99=200000)])
        self.assertIn("with 8 hosts at 500 Mbit/s", check.text)
        self.assertIsNone(check.warning)

    def test_nothing_to_say(self):
        self.assertIsNone(accounts.check(lab("micro"), [ring()]))
        self.assertIsNone(accounts.check(lab("p3"), [ring(elements=5)]))
        self.assertIsNone(
            accounts.check(lab("p3"), [ring(algorithm="transpose")]))


class Late(unittest.TestCase):
    def test_only_a_straggler_is_late(self):
        self.assertEqual([], compare.late_options(lab("p3")))
        options = compare.late_options(lab("straggler"))
        late = lab("straggler").lateness().who
        self.assertEqual(str(late), options[options.index("--late") + 1])
        self.assertEqual("0.3", options[options.index("--late-seconds") + 1])

    def test_anyone_is_late_where_ranks_take_turns(self):
        for name, who in (("varying", "any"), ("varying10", "each")):
            options = compare.late_options(lab(name))
            self.assertEqual(who, options[options.index("--late") + 1])


class LabTable(unittest.TestCase):
    ROW = {
        "algorithm": "ring", "transport": "tcp", "bytes": 4000000,
        "iterations": 15, "p50_us": 1234.5, "p90_us": 20000.0,
        "p99_us": 300000.0, "p999_us": None, "slow_tenth_us": 250000.0,
        "step_mean_us": 2000.0, "step_slow_tenth_us": 160000.0,
        "algbw_bytes_per_s": 2.5e8,
        "busbw_bytes_per_s": 3.75e8, "cpu_s_per_gb": 1.25,
        "loss_fraction": 0.0, "verified": True, "lab_environment": "mixed",
        "wire_fraction": 0.9321, "cpu_idle_fraction": 0.255,
        "cpu_others_fraction": 0.0, "flow_mbit": [], "second_mbit": None}

    def test_has_the_labs_columns(self):
        *_, heading, _, line = compare.render([self.ROW], True).splitlines()
        self.assertTrue(heading.endswith("others'"), heading)
        self.assertEqual(
            ["yes", "250.0", "2.000", "160.0", "0.932", "0.26", "0.00"],
            line.split()[-7:])

    def test_and_its_flows(self):
        text = compare.render([{**self.ROW, "flow_mbit": [203.4, 99.9]}])
        self.assertRegex(text, "(?s) flow.* Mbit/s\n")
        self.assertEqual("203+100", text.split()[-1])

    def test_and_a_second_jobs(self):
        text = compare.render([{**self.ROW, "second_mbit": 203.4}])
        self.assertRegex(text, "(?s) second.* Mbit/s\n")
        self.assertEqual("203", text.split()[-1])


class Disturbed(unittest.TestCase):
    def test_rows_beside_other_programs_are_marked(self):
        rows = [ring(cpu_others_fraction=0.06),
                ring(algorithm="transpose", cpu_others_fraction=0.05)]
        warning = accounts.disturbed(rows)
        self.assertIn("5% of the CPUs in the turns of ring_chunked (", warning)
        self.assertIsNone(accounts.disturbed(rows[1:]))
        line = compare.render([{**LabTable.ROW, "cpu_others_fraction": 0.06}])
        self.assertEqual("0.06!", line.split()[-1])


class Busy(unittest.TestCase):
    def test_names_those_without_idle_cpus(self):
        rows = [ring(cpu_idle_fraction=0.01),
                ring(algorithm="transpose", cpu_idle_fraction=0.2)]
        warning = accounts.busy(rows)
        self.assertIn("turns of ring_chunked:", warning)
        self.assertIn("--lab-rate", warning)
        self.assertIsNone(accounts.busy(rows[1:]))


LINES = (
    {"steps": 30, "parameters": 100, "ranks": 4, "seed": 1, "torch": "1.13"},
    {"step": 10, "seconds": 1.0, "loss": 2.0},
    {"step": 15, "seconds": 1.5, "accuracy": 0.5},
    {"step": 20, "seconds": 2.0, "loss": 1.5},
    {"step": 30, "seconds": 3.75, "loss": 1.23456},
    {"step": 30, "seconds": 3.75, "accuracy": 0.87654},
    {"step": 30, "seconds": 4.0, "divergence": 0.00321})
ABOUT = {"model": "fashion", "algorithm": "ring", "seed": 7, "lost": None}


class Runs(unittest.TestCase):
    def test_the_last_values_count(self):
        run = train.run_of(ABOUT, LINES)
        self.assertEqual("ring", run["algorithm"])
        self.assertEqual(30, run["steps"])
        self.assertEqual(3.75, run["seconds"])
        self.assertEqual(125, run["ms_per_step"])
        self.assertEqual(1.23456, run["loss"])
        self.assertEqual(0.87654, run["accuracy"])
        self.assertEqual(0.00321, run["divergence"])

    def test_the_curves_are_whole(self):
        run = train.run_of(ABOUT, LINES)
        self.assertEqual([10, 20, 30],
                         [point["step"] for point in run["losses"]])
        self.assertEqual([15, 30],
                         [point["step"] for point in run["accuracies"]])


class RunTable(unittest.TestCase):
    def test_a_line_a_run(self):
        run = train.run_of(ABOUT, LINES)
        first, head, *lines = train.render(
            [run, {**run, "algorithm": "optireduce", "lost": 0.0421,
                   "divergence": 0.0}]).splitlines()
        self.assertEqual("ms a", first.strip())
        self.assertEqual(
            "algorithm seed steps seconds step loss accuracy missing "
            "divergence".split(), head.split())
        self.assertEqual(["ring", "7", "30", "3.8", "125.0", "1.235", "87.65",
                          "%", "3.2e-03"], lines[0].split())
        self.assertEqual("optireduce", lines[1].split()[0])
        self.assertEqual(["4.2", "%", "0"], lines[1].split()[-3:])
        self.assertEqual({len(head)}, set(map(len, lines)))

    def test_what_diverged(self):
        run = {**train.run_of(ABOUT, LINES), "loss": float("nan")}
        self.assertIn(" nan ", train.render([run]))


if __name__ == "__main__":
    junit_main.main()
