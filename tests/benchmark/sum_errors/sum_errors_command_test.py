# SPDX-License-Identifier: Apache-2.0
"""benchmark/sum_errors: its arguments and its output."""
import contextlib
import io
import json
import os
import tempfile
import unittest

from sum_errors_lib import __main__ as sum_errors
from sum_errors_lib import arguments
from tests import junit_main
from tests.support import usage


class Command(unittest.TestCase):
    def test_rows_and_table(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.json")
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                code = sum_errors.main([
                    "--elements", "5000", "--ranks", "4", "--seeds", "2",
                    "--loss", "0.1,0.2", "--json", path])
            with open(path, encoding="utf-8") as file:
                rows = json.load(file)
        self.assertEqual(0, code)
        # 2 patterns, 2 shares, with and without transform and rescaling. Two
        # algorithms have two fills, the ring has one.
        self.assertEqual(2 * 2 * 2 * 2 * 5, len(rows))
        for row in rows:
            self.assertEqual((4, 5760, 2),  # 4 whole packets for each rank
                             (row["ranks"], row["elements"], row["seeds"]))
            self.assertGreater(row["mse"], 0)
            self.assertGreater(row["worst_se"], row["mse"])
        self.assertEqual({"partial"}, {row["fill"] for row in rows
                                       if row["algorithm"] == "ring"})
        lines = [line for line in out.getvalue().splitlines() if line]
        self.assertEqual(1 + len(rows), len(lines))
        self.assertIn("worst", lines[0])

    def test_only_one_side(self):
        parsed = arguments.parse(["--hadamard", "off", "--rescale", "on"])
        self.assertEqual(((False,), (True,)),
                         (parsed.hadamard, parsed.rescale))


class Mistakes(unittest.TestCase):
    def test_each_names_culprit_and_remedy(self):
        for argv, culprit, remedy in (
                (["--algorithms", "rign"], "'rign'", "did you mean ring?"),
                (["--patterns", "tails"], "'tails'", "did you mean tail?"),
                (["--fills", "locale"], "'locale'", "did you mean local?"),
                (["--loss", "1"], "'1'", "0.01,0.05"),
                (["--loss", "much"], "'much'", "0.01,0.05"),
                (["--loss", "0.1,0.1"], "--loss", "only once"),
                (["--hadamard", "yes"], "'yes'", "on, off"),
                (["--ranks", "1"], "'1'", "from 2 to 64"),
                (["--elements", "0"], "'0'", "from 1 to"),
                (["--packet", "1000000"], "'1000000'", "from 1 to"),
                (["--json", "/nowhere/x"], "--json", "elsewhere")):
            error = usage.error_of(arguments.parse, argv)
            self.assertIn(culprit, error)
            self.assertIn(remedy, error)


if __name__ == "__main__":
    junit_main.main()
