# SPDX-License-Identifier: Apache-2.0
"""Names of algorithms, checked by the programs that have them."""
import contextlib
import io
import os
import unittest
from unittest import mock

from bench import algorithms, train
from front_end.errors import EXIT_USAGE, UserError
from tests import junit_main

WORKER = os.path.abspath("benchmark/comparison/worker")
MEASURE = os.path.abspath("benchmark/measure")


def choose(binary, names, ranks=4, *more):
    """Returns the chosen names and the notes."""
    notes = io.StringIO()
    with contextlib.redirect_stderr(notes):
        chosen = algorithms.choose(binary, names, ranks, *more)
    return list(chosen), notes.getvalue()


class Choose(unittest.TestCase):
    def test_the_default_leaves_out_those_that_cannot_work(self):
        chosen, notes = choose(WORKER, [], 3)
        self.assertEqual(["ring", "ring_chunked", "halving_doubling",
                          "transpose", "optireduce"], chosen)
        self.assertIn("bcube is left out, it needs a power of 2", notes)

    def test_named_ones_are_in_the_order_given(self):
        names = ["optireduce+without=window", "ring", "optireduce:none"]
        for binary in (WORKER, MEASURE):
            self.assertEqual((names, ""), choose(binary, names))

    def test_mistakes_name_the_culprit_and_the_allowed_values(self):
        for binary in (WORKER, MEASURE):
            for name, words in (
                    ("rign", ("'rign'", "did you mean ring?")),
                    ("optireduce:some", ("=some", "broadcast")),
                    ("optireduce+withut=window", ("'withut'", "without",
                                                  "zero_loss")),
                    ("optireduce+without=soon", ("=soon", "window"))):
                with self.assertRaises(UserError) as raised:
                    choose(binary, ["ring", name])
                self.assertEqual(EXIT_USAGE, raised.exception.exit_code)
                for word in words:
                    self.assertIn(word, str(raised.exception))


class OfTrainings(unittest.TestCase):
    def test_gloo_alone_needs_no_worker(self):
        train.check_algorithms(["gloo"], 4, "/nowhere")

    def test_all_of_the_worker_but_one(self):
        train.check_algorithms(
            ["gloo", "ring", "optireduce:none+without=window"], 4, WORKER)
        with self.assertRaisesRegex(UserError, "ring_chunked is not for"):
            train.check_algorithms(["ring_chunked"], 4, WORKER)
        with self.assertRaisesRegex(UserError, "'windw'"):
            train.check_algorithms(["optireduce+windw=off"], 4, WORKER)


class Variables(unittest.TestCase):
    def variables(self, name, library="/l.so"):
        return train.variables(
            name, train.check_algorithms([name], 4, WORKER), library)

    def test_plain_gloo_is_left_alone(self):
        self.assertEqual({}, self.variables("gloo", None))

    def test_others_are_preloaded(self):
        self.assertEqual({"LD_PRELOAD": "/l.so", "GLOO_ALGO": "ring"},
                         self.variables("ring"))

    def test_earlier_preloads_stay(self):
        with mock.patch.dict(os.environ, LD_PRELOAD="/malloc.so"):
            found = train.variables("ring", {"ring": {}}, "/l.so")
        self.assertEqual("/l.so:/malloc.so", found["LD_PRELOAD"])

    def test_settings_of_the_name_become_variables(self):
        found = self.variables("optireduce:none+lead_ops=1+without=window")
        self.assertEqual(
            {"LD_PRELOAD": "/l.so", "GLOO_ALGO": "optireduce",
             "GLOO_UBT_REPAIR": "none",
             "GLOO_UBT_EXPERIMENT": "lead_ops:1,without:window"}, found)
        with mock.patch.dict(os.environ, GLOO_UBT_REPAIR="both"):
            self.assertNotIn("GLOO_UBT_REPAIR", self.variables("optireduce"))

    def test_which_may_lose_data(self):
        for name in ("optireduce", "optireduce:none",
                     "hierarchical_optireduce+groups=2"):
            self.assertTrue(algorithms.is_bounded(name))
        self.assertFalse(algorithms.is_bounded("transpose"))


if __name__ == "__main__":
    junit_main.main()
