# SPDX-License-Identifier: Apache-2.0
"""benchmark/train with Debian's PyTorch, the real library and made-up data."""
import contextlib
import importlib.util
import io
import json
import os
import signal
import tempfile
import unittest
import unittest.mock

import made_up_data
from bench import job, models, train
from tests import junit_main

LIBRARY = os.path.abspath("gloo_ext/libgloo_ubt.so")
WORKER = os.path.abspath("benchmark/comparison/worker")
PNG = b"\x89PNG\r\n\x1a\n"


def run_train(*argv):
    """Returns exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = train.main(["--library", LIBRARY, "--binary", WORKER,
                           "--ranks", "2", *argv])
    return code, out.getvalue(), err.getvalue()


def children():
    """Process ids of this process's running children."""
    own = os.getpid()
    with open(f"/proc/{own}/task/{own}/children", encoding="ascii") as file:
        return file.read().split()


@unittest.skipUnless(importlib.util.find_spec("torch"), "python3-torch is not "
                     "installed: third_party/install "
                     "third_party/torch_packages.txt")
class Train(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Asking PyTorch takes seconds each time.
        version = job.torch_version(job.DEBIANS)
        patch = unittest.mock.patch.object(job, "torch_version",
                                           return_value=version)
        patch.start()
        cls.addClassCleanup(patch.stop)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.json = os.path.join(self.folder, "runs.json")

    def fashion(self, *argv, **variables):
        """Returns the runs by algorithm, and run_train()'s other results."""
        made_up_data.write_images(self.folder, training=512, test=50)
        with unittest.mock.patch.dict(os.environ, variables):
            code, out, err = run_train(
                "--model", "fashion", "--data", self.folder,
                "--json", self.json, *argv)
        self.assertEqual(0, code, err)
        with open(self.json, encoding="utf-8") as file:
            return json.load(file)["rows"], out, err

    def losses(self, run):
        return [point["loss"] for point in run["losses"]]

    def test_fashion_alike_with_all_algorithms(self):
        picture = os.path.join(self.folder, "curves.png")
        runs, out, _ = self.fashion(
            "--plot", picture, "--algorithms", "gloo,ring,optireduce",
            GLOO_UBT_BOUND="5s")  # bounded at once, and ample
        self.assertEqual(["gloo", "ring", "optireduce"],
                         [run["algorithm"] for run in runs])
        for run in runs:
            self.assertEqual(4, run["steps"])
            self.assertGreater(run["seconds"], 0)
            self.assertGreater(run["parameters"], 800000)
            self.assertIn(run["algorithm"], out)
            # A sum of two is the same in either order.
            self.assertEqual(self.losses(runs[0]), self.losses(run))
            self.assertLessEqual(run["accuracy"], 1)
            self.assertEqual(0, run["divergence"])
            self.assertEqual(0 if run["algorithm"] == "optireduce" else None,
                             run["lost"])
        with open(picture, "rb") as file:
            self.assertEqual(PNG, file.read(len(PNG)))

    def test_lost_data_makes_a_difference(self):
        runs, _, err = self.fashion(
            "--algorithms", "optireduce:none+fault=loss:0.5,"
            "optireduce:none+mtu=1500+fault=tail:0.2", GLOO_UBT_BOUND="100ms")
        random, tail = runs
        self.assertGreater(random["lost"], 0.1)
        self.assertGreater(random["divergence"], 0)
        # A tenth of two ranks' contributions is lost, and a tenth of results.
        self.assertGreater(tail["lost"], 0.08)
        self.assertGreater(tail["divergence"], 0)
        self.assertNotEqual(self.losses(random), self.losses(tail))
        self.assertNotIn("optireduce: optireduce:", err)

    def test_bible_with_two_seeds(self):
        path = os.path.join(self.folder, "text.txt")
        made_up_data.write_text(path, 20000)
        code, out, err = run_train("--model", "bible", "--data", path,
                                   "--algorithms", "ring", "--seeds", "1,2",
                                   "--steps", "6", "--json", self.json)
        self.assertEqual(0, code, err)
        with open(self.json, encoding="utf-8") as file:
            runs = json.load(file)["rows"]
        self.assertEqual([("ring", 1), ("ring", 2)],
                         [(run["algorithm"], run["seed"]) for run in runs])
        for run in runs:
            self.assertEqual(6, run["steps"])
            self.assertGreater(run["accuracy"], 0.1)  # spaces, at least
            self.assertIn(f"{100 * run['accuracy']:.2f} %", out)
        self.assertNotEqual(*map(self.losses, runs))

    def test_sizes_of_the_transformer(self):
        import bible_transformer  # needs PyTorch
        counts = []
        for name in ("bible-small", "bible", "bible-large"):
            _, *options = models.MODELS[name].command()
            width = int(options[1]) if options else 128
            transformer = bible_transformer.Transformer("ab" * 30, width)
            counts.append(sum(
                weights.numel() for weights in transformer.parameters()))
        self.assertAlmostEqual(1 / 3, counts[0] / counts[1], delta=0.05)
        self.assertAlmostEqual(3, counts[2] / counts[1], delta=0.2)

    def test_data_that_a_rank_cannot_read(self):
        code, _, err = run_train("--model", "fashion", "--data", self.folder)
        self.assertEqual(1, code)
        self.assertIn("ended with exit code 1", err)
        self.assertIn("train-images-idx3-ubyte.gz", err)
        self.assertEqual([], children())

    def test_too_little_data(self):
        made_up_data.write_images(self.folder, training=100, test=10)
        code, _, err = run_train("--model", "fashion", "--data", self.folder)
        self.assertEqual(1, code)
        self.assertIn("100 examples are too few", err)

    def test_an_interrupt_ends_everything(self):
        made_up_data.write_images(self.folder, training=512, test=50)
        with unittest.mock.patch.object(
                job.Progress, "take",
                lambda *_: os.kill(os.getpid(), signal.SIGINT)):
            code, _, err = run_train(
                "--model", "fashion", "--data", self.folder, "--algorithms",
                "ring", "--epochs", "100000")
        self.assertEqual(130, code)
        self.assertIn("interrupted", err)
        self.assertEqual([], children())


if __name__ == "__main__":
    junit_main.main()
