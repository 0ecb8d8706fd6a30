# SPDX-License-Identifier: Apache-2.0
"""benchmark/steps with Debian's PyTorch and the real library."""
import contextlib
import importlib.util
import io
import json
import os
import tempfile
import unittest

from tests import junit_main
from steps_lib import __main__ as steps

LIBRARY = os.path.abspath("gloo_ext/libgloo_ubt.so")


def run(*argv):
    """Returns exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = steps.main(["--library", LIBRARY, "--ranks", "2", *argv])
        except SystemExit as end:
            code = end.code
    return code, out.getvalue(), err.getvalue()


class Arguments(unittest.TestCase):
    def test_nonsense_is_named(self):
        for words, text in ((["--variants", "gloo,rnig"], "did you mean ring"),
                            (["--variants", "ring,ring"], "only once"),
                            (["--turns", "0"], "above 0"),
                            (["--json", "/nosuch/file"], "/nosuch"),
                            (["--python", "/nosuch"], "/nosuch")):
            with self.subTest(words):
                code, _, err = run(*words)
                self.assertEqual(code, 2)
                self.assertIn(text, err)


@unittest.skipUnless(importlib.util.find_spec("torch"), "python3-torch is not "
                     "installed: third_party/install "
                     "third_party/torch_packages.txt")
class Steps(unittest.TestCase):
    def test_every_variant_has_its_turns(self):
        variants = ["preloaded", "gloo", "ring", "optireduce"]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "steps.json")
            code, out, err = run("--variants", ",".join(variants), "--turns",
                                 "3", "--steps", "2", "--json", path)
            self.assertEqual(code, 0, err)
            with open(path, encoding="utf-8") as file:
                times = json.load(file)["ms"]
        self.assertEqual(list(times), variants)
        for name in variants:
            self.assertIn(name, out)
            self.assertEqual([len(turn) for turn in times[name]], [2, 2, 2])
            self.assertTrue(all(ms > 0 for turn in times[name] for ms in turn))

    def test_a_rank_that_fails_is_named(self):
        os.environ["GLOO_UBT_REPAIR"] = "no"
        self.addCleanup(os.environ.pop, "GLOO_UBT_REPAIR")
        code, _, err = run("--variants", "optireduce", "--turns", "1")
        self.assertEqual(code, 1)
        self.assertRegex(err, "optireduce: rank [01] ended(.|\\n)*"
                         "GLOO_UBT_REPAIR=no")


if __name__ == "__main__":
    junit_main.main()
