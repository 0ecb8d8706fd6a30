# SPDX-License-Identifier: Apache-2.0
"""unittest.main() for Bazel: writes every case into the result file that
tests/count_results.py reads."""
import os
import sys
import time
import unittest
import xml.etree.ElementTree as ElementTree


class _Result(unittest.TextTestResult):
    """Records the result of each case."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.suite = ElementTree.Element("testsuite", name="python")
        self._case = None

    def startTest(self, test):
        super().startTest(test)
        name = test.id().rsplit(".", 1)
        self._case = ElementTree.SubElement(
            self.suite, "testcase", classname=name[0], name=name[-1])
        self._started = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        self._case.set("time", f"{time.monotonic() - self._started:.3f}")

    def _note(self, kind, message):
        case = self._case
        if case is None:  # in setUpClass or setUpModule: no case began
            case = ElementTree.SubElement(
                self.suite, "testcase", classname="set_up", name="set_up")
        ElementTree.SubElement(case, kind).text = message

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._note("failure", self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self._note("error", self.errors[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._note("failure", f"{subtest}: {err[1]}")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._note("skipped", reason)


def main():
    """Runs the cases of the main module: all, or only those that `bazel test
    --test_filter=NAME` names, a class or a class and a case."""
    module = sys.modules["__main__"]
    only = os.environ.get("TESTBRIDGE_TEST_ONLY")
    loader = unittest.defaultTestLoader
    suite = (loader.loadTestsFromName(only, module) if only
             else loader.loadTestsFromModule(module))
    result = unittest.TextTestRunner(
        resultclass=_Result, verbosity=2).run(suite)
    path = os.environ.get("XML_OUTPUT_FILE")
    if path:
        ElementTree.ElementTree(result.suite).write(path, encoding="utf-8")
    sys.exit(0 if result.wasSuccessful() and result.testsRun else 1)
