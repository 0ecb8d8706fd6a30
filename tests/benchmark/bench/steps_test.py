# SPDX-License-Identifier: Apache-2.0
"""The experiment `steps` with Debian's PyTorch and the real library."""
import contextlib
import importlib.util
import io
import json
import os
import tempfile
import unittest
from unittest import mock

from bench.experiments import steps
from tests import junit_main

LIBRARY = os.path.abspath("gloo_ext/libgloo_ubt.so")
WORKER = os.path.abspath("benchmark/comparison/worker")


def run(*argv):
    """Returns exit code, standard error and the result."""
    err = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "steps.json")
        with contextlib.redirect_stderr(err):
            code = steps.main(["--library", LIBRARY, "--binary", WORKER,
                               "--ranks", "2", "--json", path, *argv])
        if code:
            return code, err.getvalue(), None
        with open(path, encoding="utf-8") as file:
            return code, err.getvalue(), json.load(file)


class Row(unittest.TestCase):
    def test_a_variant_is_compared_turn_by_turn(self):
        times = {"gloo": [[1, 2, 3], [10, 20, 30]],
                 "ring": [[2, 4, 6], [5, 10, 15]]}
        self.assertEqual("1.000 (1.000 to 1.000)", steps.row(
            "gloo", times)[-1])
        name, count, p50, *_, ratio = steps.row("ring", times)
        self.assertEqual(("ring", "6", "5.500"), (name, count, p50))
        self.assertTrue(ratio.startswith("1.250 ("))


@unittest.skipUnless(importlib.util.find_spec("torch"), "python3-torch is not "
                     "installed: third_party/install "
                     "third_party/torch_packages.txt")
class Steps(unittest.TestCase):
    def test_every_variant_has_its_turns(self):
        variants = ["preloaded", "gloo", "optireduce+early=off"]
        code, err, result = run("--variants", ",".join(variants), "--turns",
                                "3", "--steps", "2")
        self.assertEqual(code, 0, err)
        times = result["ms"]
        self.assertEqual(list(times), variants)
        for name in variants:
            self.assertEqual([len(turn) for turn in times[name]], [2, 2, 2])
            self.assertTrue(all(ms > 0 for turn in times[name] for ms in turn))

    def test_a_rank_that_fails_is_named(self):
        with mock.patch.object(steps.train, "check_algorithms"):
            code, err, _ = run("--variants", "optireduce+repair=no",
                               "--turns", "1")
        self.assertEqual(code, 1)
        self.assertRegex(err, "optireduce.*: rank [01] ended(.|\\n)*"
                         "GLOO_UBT_REPAIR=no")


if __name__ == "__main__":
    junit_main.main()
