# SPDX-License-Identifier: Apache-2.0
"""A measurement whose record is replayed, with commands that only pretend."""
import json
import unittest
from unittest import mock

from bench.experiments import replayed
from front_end.errors import UserError
from tests import junit_main


class Measure(unittest.TestCase):
    def measure(self, rows, reports):
        def run(command, **variables):
            if command[0] == "replay":
                return json.dumps(reports)
            with open(command[command.index("--json") + 1], "w",
                      encoding="utf-8") as file:
                json.dump({"run": {}, "rows": rows}, file)
            return ""

        with mock.patch.object(replayed, "_run", run), mock.patch.object(
                replayed.bazel, "build", return_value="replay"):
            return replayed.measure(["benchmark/compare"])

    def test_has_the_row_and_the_report(self):
        self.assertEqual({"row": {"n": 1}, "replay": {"x": 2}},
                         self.measure([{"n": 1}], [{"x": 2}]))

    def test_takes_one_algorithm_and_one_size(self):
        with self.assertRaisesRegex(UserError, "found 2 rows, not one"):
            self.measure([{}, {}], [{}])


if __name__ == "__main__":
    junit_main.main()
