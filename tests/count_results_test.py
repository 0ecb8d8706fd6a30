# SPDX-License-Identifier: Apache-2.0
"""The counts in the closing line of tests/run."""
import contextlib
import io
import json
import os
import tempfile
import unittest

from tests import count_results
from tests import junit_main

_GOOD = '<testcase classname="A" name="good"/>'
_BAD = '<testcase classname="A" name="bad"><failure/></testcase>'
_ERROR = '<testcase classname="A" name="error"><error/></testcase>'
_SKIPPED = '<testcase classname="A" name="skipped"><skipped/></testcase>'


class CountResultsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self._folder = folder.name
        self._files = 0

    def _write(self, text):
        self._files += 1
        path = os.path.join(self._folder, f"file {self._files}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def _result(self, *cases, status="PASSED"):
        """The event of a shard with these cases; None for no result file."""
        outputs = []
        if cases != (None,):
            xml = self._write(f"<testsuites>{''.join(cases)}</testsuites>")
            outputs = [{"name": "test.xml",
                        "uri": "file://" + xml.replace(" ", "%20")}]
        return json.dumps({"id": {"testResult": {"label": "//a:b"}},
                           "testResult": {"status": status,
                                          "testActionOutput": outputs}})

    def _count(self, *runs):
        """The exit code and the lines for runs, each a list of events."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            code = count_results.main(
                [self._write("\n".join(events)) for events in runs])
        return code, output.getvalue().splitlines()

    def test_adds_shards_and_runs(self):
        code, lines = self._count(
            [self._result(_GOOD, _GOOD), self._result(_GOOD), "{}"],
            [self._result(_GOOD)])
        self.assertEqual((code, lines), (0, ["4 passed, 0 failed"]))

    def test_names_the_failures(self):
        code, lines = self._count(
            [self._result(_GOOD, _BAD, _ERROR, status="FAILED")])
        self.assertEqual(code, 1)
        self.assertEqual(lines, ["FAILED //a:b A.bad", "FAILED //a:b A.error",
                                 "1 passed, 2 failed"])

    def test_skipped_cases_are_seen(self):
        code, lines = self._count([self._result(_GOOD, _SKIPPED)])
        self.assertEqual(code, 0)
        self.assertEqual(lines[0], "SKIPPED //a:b A.skipped")
        self.assertEqual(lines[-1], "1 passed, 0 failed")

    def test_a_crash_counts(self):
        for cases in ((_GOOD,), (None,)):
            code, lines = self._count([self._result(*cases, status="TIMEOUT")])
            self.assertEqual(code, 1)
            self.assertEqual(lines[0], "FAILED //a:b: TIMEOUT")

    def test_an_unreadable_result_counts(self):
        code, lines = self._count([self._result("<")])
        self.assertEqual((code, lines[-1]), (1, "0 passed, 1 failed"))

    def test_a_run_without_tests_counts(self):
        code, lines = self._count([self._result(_GOOD)], ["{}"])
        self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed"))

    def test_a_report_that_breaks_off_counts(self):
        code, lines = self._count([self._result(_GOOD), '{"id": {"tes'])
        self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed"))

    def test_a_missing_report_counts(self):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            code = count_results.main([os.path.join(self._folder, "none")])
        self.assertEqual(code, 1)
        self.assertIn("0 passed, 1 failed", output.getvalue())


if __name__ == "__main__":
    junit_main.main()
