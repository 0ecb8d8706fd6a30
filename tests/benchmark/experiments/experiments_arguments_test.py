# SPDX-License-Identifier: Apache-2.0
import os
import tempfile
import unittest
import unittest.mock

from experiments_lib import arguments
from experiments_lib.suite import SUITE
from tests import junit_main
from tests.support import usage


def parse(*argv, user=0):
    with unittest.mock.patch("os.geteuid", lambda: user):
        return arguments.parse(argv)


class Defaults(unittest.TestCase):
    def test_all_experiments_into_the_documentation(self):
        parsed = parse()
        self.assertEqual(list(SUITE.values()), parsed.experiments)
        self.assertTrue(parsed.out.endswith("/docs/results"))

    def test_a_quick_look_goes_elsewhere(self):
        self.assertTrue(parse("--quick").out.endswith("/quick-results"))


class Mistakes(unittest.TestCase):
    def test_each_names_culprit_and_remedy(self):
        for argv, culprit, remedy in (
                (["--only", "tail"], "'tail'", "did you mean tails?"),
                (["--only", "tails,tails"], "--only", "only once"),
                (["--again", "--list"], "--again", "leave it out"),
                (["--again", "--report"], "--again", "leave it out")):
            error = usage.error_of(lambda argv: parse(*argv), argv)
            self.assertIn(culprit, error)
            self.assertIn(remedy, error)

    def test_the_lab_needs_root_but_looking_does_not(self):
        error = usage.error_of(lambda argv: parse(*argv, user=1000), [])
        self.assertIn("tails", error)
        self.assertIn("sudo", error)
        for option in ("--list", "--report"):
            parse(option, user=1000)

    def test_results_need_a_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "file")
            with open(path, "w", encoding="utf-8"):
                pass
            error = usage.error_of(lambda argv: parse(*argv), ["--out", path])
            self.assertIn("is no folder", error)


if __name__ == "__main__":
    junit_main.main()
