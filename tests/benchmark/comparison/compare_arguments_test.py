# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import unittest

from compare_lib import arguments
from compare_lib.errors import EXIT_USAGE, CompareError
from tests import junit_main

KNOWN = {
    "ring": {"default": True, "why_not": None},
    "bcube": {"default": True, "why_not": "needs a power of 2 ranks"},
    "transpose": {"default": True, "why_not": None},
    "special": {"default": False, "why_not": None}}


def error_of(*argv):
    """What a wrong command line is answered with."""
    text = io.StringIO()
    try:
        with contextlib.redirect_stderr(text):
            arguments.parse(argv)
    except SystemExit as error:
        assert error.code == EXIT_USAGE
        return text.getvalue()
    raise AssertionError(f"{argv} was accepted")


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
                (["--seconds", "-1"], "'-1'", "above 0"),
                (["--ranks", "0"], "'0'", "above 0"),
                (["--rank", "0"], "--size, --redis-url", "go together"),
                (["--interface", "eth77"], "eth77", "lo"),
                (["--json", "/nowhere/x"], "/nowhere", "elsewhere"),
                (["--plot", "x.txt"], "'x.txt'", ".png"),
                (["--rank", "3", "--size", "3", "--redis-url", "u"],
                 "--rank 3", "from 0 to 2"),
                (["--rank", "0", "--size", "3", "--redis-url", "u",
                  "--ranks", "3"], "--ranks", "--size"),
                (["--element", "5"], "--element", "usage")):
            with self.subTest(argv=argv):
                text = error_of(*argv)
                self.assertIn(culprit, text)
                self.assertIn(remedy, text)


class Algorithms(unittest.TestCase):
    def test_all_that_can_work_by_default(self):
        self.assertEqual(["ring", "transpose"],
                         arguments.choose_algorithms("", KNOWN))

    def test_others_when_named(self):
        self.assertEqual(["special"],
                         arguments.choose_algorithms("special", KNOWN))

    def test_in_the_order_given(self):
        self.assertEqual(["transpose", "ring"], arguments.choose_algorithms(
            "transpose,ring", KNOWN))

    def test_unknown_names_what_is_meant(self):
        with self.assertRaisesRegex(CompareError, "did you mean transpose"):
            arguments.choose_algorithms("transpos", KNOWN)

    def test_one_that_cannot_work_says_why(self):
        with self.assertRaisesRegex(CompareError, "power of 2"):
            arguments.choose_algorithms("bcube", KNOWN)

    def test_twice(self):
        with self.assertRaisesRegex(CompareError, "only once"):
            arguments.choose_algorithms("ring,ring", KNOWN)


if __name__ == "__main__":
    junit_main.main()
