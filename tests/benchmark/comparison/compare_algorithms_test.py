# SPDX-License-Identifier: Apache-2.0
import os
import unittest
from unittest import mock

from compare_lib import algorithms, arguments
from compare_lib.errors import EXIT_USAGE, CompareError
from tests import junit_main

LISTED = {
    "ring": {"default": True, "why_not": None},
    "bcube": {"default": True, "why_not": "needs a power of 2 ranks"},
    "transpose": {"default": True, "why_not": None},
    "special": {"default": False, "why_not": None}}


class Choose(unittest.TestCase):
    def test_all_that_can_work_by_default(self):
        self.assertEqual(["ring", "transpose"],
                         algorithms.choose("", LISTED))

    def test_others_when_named(self):
        self.assertEqual(["special"], algorithms.choose("special", LISTED))

    def test_in_the_order_given(self):
        self.assertEqual(["transpose", "ring"],
                         algorithms.choose("transpose,ring", LISTED))

    def test_unknown_names_what_is_meant(self):
        with self.assertRaisesRegex(CompareError, "did you mean transpose"):
            algorithms.choose("transpos", LISTED)

    def test_one_that_cannot_work_says_why(self):
        with self.assertRaisesRegex(CompareError, "power of 2"):
            algorithms.choose("bcube", LISTED)

    def test_twice(self):
        with self.assertRaisesRegex(CompareError, "only once"):
            algorithms.choose("ring,ring", LISTED)


class BeforeThereIsAWorker(unittest.TestCase):
    def test_mistakes_name_culprit_and_remedy(self):
        for argv, words in (
                (["--algorithms", "rign"],
                 ("'rign'", "did you mean ring?", "halving_doubling")),
                (["--algorithms", "ring,optireduce:sometimes"],
                 ("'optireduce:sometimes'", "optireduce:none",
                  "optireduce:broadcast", "optireduce:both")),
                (["--algorithms", "ring,ring"], ("only once",)),
                (["--algorithms", "bcube", "--ranks", "3"],
                 ("bcube", "power of 2")),
                (["--algorithms", "hierarchical_transpose", "--ranks", "4"],
                 ("hierarchical_transpose", "4 ranks", "GLOO_UBT_GROUPS=3",
                  "divisor")),
                (["--algorithms", "hierarchical_optireduce", "--ranks", "4"],
                 ("hierarchical_optireduce", "4 ranks", "GLOO_UBT_GROUPS=3")),
                (["--algorithms", "optireduce", "--ranks", "1"],
                 ("optireduce", "at least 2 ranks"))):
            with self.subTest(argv=argv), mock.patch.dict(
                    os.environ, {"GLOO_UBT_GROUPS": "3"}):
                with self.assertRaises(CompareError) as raised:
                    arguments.parse(argv)
                self.assertEqual(EXIT_USAGE, raised.exception.exit_code)
                for word in words:
                    self.assertIn(word, str(raised.exception))


if __name__ == "__main__":
    junit_main.main()
