# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import unittest

from front_end.errors import EXIT_USAGE, UserError
from tests import junit_main
from tests.support import usage
from train_lib import __main__ as train
from train_lib import algorithms, arguments, pytorch


def error_of(*argv):
    return usage.error_of(arguments.parse, argv)


class Defaults(unittest.TestCase):
    def test_of_all_but_the_model(self):
        parsed = arguments.parse(["--model", "bible"])
        self.assertEqual(("ring", "optireduce"), parsed.algorithms)
        self.assertEqual(4, parsed.ranks)
        self.assertEqual(1, parsed.epochs)
        self.assertEqual((1,), parsed.seeds)
        self.assertEqual(pytorch.DEBIANS, parsed.python)

    def test_lists(self):
        parsed = arguments.parse(["--model", "bible", "--seeds", "3,1",
                                  "--algorithms", "gloo,bcube"])
        self.assertEqual((3, 1), parsed.seeds)
        self.assertEqual(("gloo", "bcube"), parsed.algorithms)


class Packages(unittest.TestCase):
    def lists(self, *more):
        return arguments.package_lists(
            arguments.parse(["--model", "fashion", *more]))

    def test_only_what_the_user_does_not_bring(self):
        self.assertEqual(
            ["packages.txt", "training_packages.txt", "torch_packages.txt"],
            self.lists())
        self.assertEqual(["packages.txt", "training_packages.txt"],
                         self.lists("--python", "/venv/bin/python"))
        self.assertEqual(["packages.txt", "torch_packages.txt"],
                         self.lists("--data", "/"))


class Mistakes(unittest.TestCase):
    def test_each_names_culprit_and_remedy(self):
        for argv, culprit, remedy in (
                (["--model", "fashon"], "'fashon'", "did you mean fashion?"),
                (["--algorithms", "rign"], "'rign'", "did you mean ring?"),
                (["--algorithms", ""], "''", "optireduce"),
                (["--algorithms", "ring,ring"], "algorithm", "only once"),
                (["--seeds", "1,1"], "seed", "only once"),
                (["--seeds", "1,-2"], "'-2'", "1,2,3"),
                (["--seeds", "99999999999"], "'99999999999'", "no seed"),
                (["--epochs", "0"], "'0'", "above 0"),
                (["--steps", "x"], "'x'", "number"),
                (["--ranks", "-1"], "'-1'", "above 0"),
                (["--plot", "x.txt"], "'x.txt'", ".png"),
                (["--json", "/nowhere/x"], "/nowhere", "elsewhere"),
                (["--data", "/nowhere"], "no folder '/nowhere'", "fashion"),
                (["--model", "bible", "--data", "/"], "no file '/'", "bible"),
                (["--epoch", "5"], "--epoch", "usage")):
            with self.subTest(argv=argv):
                text = error_of("--model", "fashion", *argv)
                self.assertIn(culprit, text)
                self.assertIn(remedy, text)

    def test_a_model_has_to_be_named(self):
        self.assertIn("--model", error_of())

    def test_a_python_that_cannot_be_run(self):
        with self.assertRaisesRegex(UserError, "/nowhere/python.*No such"):
            pytorch.version("/nowhere/python")

    def test_a_python_without_pytorch(self):
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            code = train.main(["--model", "fashion", "--python", "/bin/false",
                               "--only-check"])
        self.assertEqual(EXIT_USAGE, code)
        self.assertIn("'/bin/false' has no PyTorch", err.getvalue())
        self.assertIn("pip install torch", err.getvalue())

    def test_a_pytorch_without_gloo(self):
        with self.assertRaisesRegex(UserError, "'/bin/true' has no Gloo"):
            pytorch.version("/bin/true")

    def test_a_library_that_cannot_be_preloaded(self):
        parsed = arguments.parse(["--model", "fashion", "--library", "/a b"])
        with self.assertRaisesRegex(UserError, "'/a b' cannot be preloaded"):
            train.library(parsed)


class Algorithms(unittest.TestCase):
    def test_plain_gloo_is_left_alone(self):
        self.assertEqual({}, algorithms.variables("gloo", None))

    def test_others_are_preloaded(self):
        self.assertEqual({"LD_PRELOAD": "/l.so", "GLOO_ALGO": "ring"},
                         algorithms.variables("ring", "/l.so"))

    def test_what_the_user_preloads_stays(self):
        self.assertEqual(
            "/l.so:/malloc.so",
            algorithms.variables("ring", "/l.so", "/malloc.so")["LD_PRELOAD"])

    def test_a_repair_policy_goes_with_the_algorithm(self):
        found = algorithms.variables("optireduce:none", "/l.so")
        self.assertEqual("optireduce", found["GLOO_ALGO"])
        self.assertEqual("none", found["GLOO_UBT_REPAIR"])
        self.assertNotIn("GLOO_UBT_REPAIR",
                         algorithms.variables("optireduce", "/l.so"))


if __name__ == "__main__":
    junit_main.main()
