# SPDX-License-Identifier: Apache-2.0
"""benchmark/train --virtual with Debian's PyTorch and made-up data."""
import contextlib
import importlib.util
import io
import json
import os
import tempfile
import unittest

import made_up_data
from bench import train
from tests import junit_main

LIBRARY = os.path.abspath("benchmark/virtual/libvirtual_job.so")
MEASURE = os.path.abspath("benchmark/measure")


def run_train(*argv):
    """Returns exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = train.main(argv)
        except SystemExit as end:
            code = end.code
    return code, out.getvalue(), err.getvalue()


@unittest.skipUnless(importlib.util.find_spec("torch"), "python3-torch is not "
                     "installed: third_party/install "
                     "third_party/torch_packages.txt")
class VirtualTrain(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        made_up_data.write_images(self.folder, training=1024, test=50)

    def fashion(self, *argv):
        path = os.path.join(self.folder, "runs.json")
        code, out, err = run_train(
            "--model", "fashion", "--data", self.folder, "--json", path, *argv)
        self.assertEqual(0, code, err)
        with open(path, encoding="utf-8") as file:
            return json.load(file)["rows"], out

    def virtual(self, *argv):
        return self.fashion("--virtual", "--library", LIBRARY, "--binary",
                            MEASURE, *argv)

    def test_an_exact_sum_teaches_as_gloo_does(self):
        [plain], _ = self.fashion("--algorithms", "gloo", "--ranks", "2")
        [ring], _ = self.virtual("--algorithms", "ring", "--ranks", "2")
        self.assertEqual(8, ring["steps"])
        # Of the last steps, so of equal weights.
        self.assertAlmostEqual(plain["loss"], ring["loss"], places=12)
        self.assertEqual(plain["accuracy"], ring["accuracy"])
        self.assertEqual(0, ring["divergence"])
        self.assertIsNone(ring["lost"])

    def test_a_bounded_sum_that_lacks_nothing_teaches_the_same(self):
        [ring, bounded], out = self.virtual(
            "--algorithms", "ring,optireduce", "--ranks", "4", "--gbit", "25")
        self.assertAlmostEqual(ring["loss"], bounded["loss"], places=5)
        self.assertEqual((0, 0), (bounded["lost"], bounded["divergence"]))
        self.assertIn("optireduce", out)
        # Four steps of 50 ms, and little for the network.
        for run in ring, bounded:
            self.assertGreater(run["seconds"], 4 * .05)
            self.assertLess(run["seconds"], 4 * .06)

    def test_late_ranks_take_time(self):
        runs, _ = self.virtual("--algorithms", "ring", "--ranks", "4",
                               "--epochs", "8", "--lab", "straggler")
        self.assertGreater(runs[0]["seconds"], 32 * .05 + .3)

    def test_lost_data_makes_a_difference(self):
        [run], _ = self.virtual(
            "--algorithms", "optireduce:none", "--ranks", "4", "--epochs", "12",
            "--also", "loss=0.05")
        self.assertGreater(run["lost"], 0.01)
        self.assertGreater(run["divergence"], 0)

    def test_mistakes_are_named(self):
        for argv, text in (
                (["--gbit", "25"], "--gbit: only with --virtual"),
                (["--compute", "25"], "--compute: only with --virtual"),
                (["--virtual", "--tail", "1,2"], "one at a time"),
                (["--virtual", "--lab", "paused"], "does not stop processes"),
                (["--virtual", "--lab", "p3", "--gbit", "1"], "--gbit"),
                (["--virtual", "--algorithms", "gloo", "--binary", MEASURE],
                 "gloo is not simulated")):
            code, _, err = run_train("--model", "fashion", "--data",
                                     self.folder, *argv)
            self.assertEqual(2, code, argv)
            self.assertIn(text, err)


@unittest.skipUnless(importlib.util.find_spec("torch"), "no PyTorch")
class Buckets(unittest.TestCase):
    def test_are_those_of_distributed_data_parallel(self):
        import buckets
        import torch
        import torch.distributed as dist
        sizes = [200000, 10, 5 << 20, 3 << 20, 100, 400000, 7]
        limits = [buckets.FIRST_BYTES, buckets.BYTES]
        # It sees tensors in the order in which gradients become ready.
        indices, _ = dist._compute_bucket_assignment_by_size(
            [torch.zeros(size) for size in reversed(sizes)], limits)
        expected = [[len(sizes) - 1 - index for index in bucket]
                    for bucket in indices]
        own = buckets.buckets_of(sizes)
        self.assertEqual(expected, [list(one.parameters) for one in own])
        self.assertEqual(sum(sizes), sum(one.elements for one in own))
        self.assertEqual(1, own[-1].ready)


if __name__ == "__main__":
    junit_main.main()
