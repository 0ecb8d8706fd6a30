# SPDX-License-Identifier: Apache-2.0
import unittest

from compare_lib import plot, table
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
            self.assertEqual(text, table.three_digits(value))


class Render(unittest.TestCase):
    def test_columns_line_up(self):
        lines = table.render([row(), row(algorithm="halving_doubling")])
        lines = [line for line in lines.splitlines() if line]
        self.assertEqual(3, len(lines))
        self.assertEqual(len(lines[0]), len(lines[1]))
        self.assertEqual(
            ["ring", "tcp", "256", "KiB", "1500", "1.234", "20.00", "300.0",
             "4000", "0.250", "0.375", "1.250", "0", "yes"],
            lines[1].split())

    def test_p999_is_blank_without_enough_samples(self):
        line = table.render([row(p999_us=None)]).splitlines()[-1]
        self.assertEqual("0.250", line.split()[8])

    def test_sizes_stand_apart(self):
        text = table.render([row(), row(), row(bytes=1024)])
        self.assertEqual(2, text.count("\n\n"))

    def test_bound_only_where_there_is_one(self):
        self.assertNotIn("bound", table.render([row()]))
        text = table.render([row(), bounded(expired_ops=7)])
        self.assertIn("bound ms", text)
        self.assertEqual(["5.000", "1500", "7"],
                         text.splitlines()[-1].split()[-3:])

    def test_loss(self):
        self.assertIn(" 0.0012 ", table.render(
            [bounded(loss_fraction=0.00123)]))


class Verdict(unittest.TestCase):
    def test_right(self):
        self.assertEqual("yes", table.verdict(row()))
        self.assertEqual("yes", table.verdict(bounded()))

    def test_wrong(self):
        self.assertEqual("WRONG", table.verdict(bounded(verified=False)))
        self.assertFalse(table.is_sound(row(verified=False)))

    def test_bounded_in_name_only(self):
        self.assertEqual("not bounded", table.verdict(bounded(bounded_ops=0)))
        self.assertFalse(table.is_sound(bounded(bounded_ops=0)))

    def test_says_what_is_behind_it(self):
        self.assertEqual("", table.why(bounded()))
        self.assertEqual("", table.why(bounded(verified=False,
                                               bounded_ops=0)))
        self.assertIn("GLOO_UBT_MIN_BYTES", table.why(bounded(bounded_ops=0)))


class Cdf(unittest.TestCase):
    def test_ends_at_one(self):
        self.assertEqual(([1, 2, 2, 5], [.25, .5, .75, 1]),
                         plot.cdf([2, 5, 1, 2]))


if __name__ == "__main__":
    junit_main.main()
