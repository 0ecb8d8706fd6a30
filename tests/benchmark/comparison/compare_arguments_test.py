# SPDX-License-Identifier: Apache-2.0
import unittest

from compare_lib import arguments
from tests import junit_main
from tests.support import usage


def error_of(*argv):
    return usage.error_of(arguments.parse, argv)


class Defaults(unittest.TestCase):
    def test_local(self):
        parsed = arguments.parse([])
        self.assertTrue(parsed.local)
        self.assertEqual(4, parsed.ranks)
        self.assertEqual((65536, 1048576, 6553600), parsed.elements)
        self.assertEqual(5, parsed.seconds)
        self.assertEqual("lo", parsed.interface)

    def test_one_rank_of_many(self):
        parsed = arguments.parse(
            ["--rank", "2", "--size", "3", "--redis-url", "redis://h"])
        self.assertFalse(parsed.local)
        self.assertEqual(3, parsed.ranks)
        self.assertIsNone(parsed.interface)


class Mistakes(unittest.TestCase):
    def test_each_names_culprit_and_remedy(self):
        for argv, culprit, remedy in (
                (["--elements", "65536,x"], "'x'", "65536,1048576"),
                (["--elements", "0"], "'0'", "from 1"),
                (["--elements", "1e6"], "'1e6'", "65536,1048576"),
                (["--seconds", "-1"], "'-1'", "above 0"),
                (["--seconds", "inf"], "'inf'", "above 0"),
                (["--ranks", "0"], "'0'", "above 0"),
                (["--rank", "0"], "--size, --redis-url", "go together"),
                (["--interface", "eth77"], "eth77", "lo"),
                (["--ranks", "two"], "'two'", "number"),
                (["--json", "/nowhere/x"], "/nowhere", "elsewhere"),
                (["--json", "/"], "'/'", "name a file"),
                (["--plot", "x.txt"], "'x.txt'", ".png"),
                (["--rank", "3", "--size", "3", "--redis-url", "unix:///u"],
                 "--rank 3", "from 0 to 2"),
                (["--rank", "0", "--size", "3", "--redis-url", "unix:///u",
                  "--ranks", "3"], "--ranks", "--size"),
                (["--rank", "0", "--size", "3", "--redis-url", "h:6379"],
                 "'h:6379'", "redis://host:port"),
                (["--element", "5"], "--element", "usage")):
            with self.subTest(argv=argv):
                text = error_of(*argv)
                self.assertIn(culprit, text)
                self.assertIn(remedy, text)

    def test_only_who_writes_needs_a_place_to(self):
        argv = ["--size", "2", "--redis-url", "redis://h", "--json",
                "/nowhere/x"]
        self.assertIn("/nowhere", error_of("--rank", "0", *argv))
        arguments.parse(["--rank", "1", *argv])


if __name__ == "__main__":
    junit_main.main()
