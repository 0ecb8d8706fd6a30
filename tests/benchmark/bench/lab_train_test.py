# SPDX-License-Identifier: Apache-2.0
"""benchmark/train in a lab, with Debian's PyTorch and made-up data."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

import made_up_data
import namespaces_or_skip
from tests import junit_main

LIBRARY = os.path.abspath("gloo_ext/libgloo_ubt.so")
WORKER = os.path.abspath("benchmark/comparison/worker")
_LIMIT_S = 120


@unittest.skipIf(namespaces_or_skip.why_not(), namespaces_or_skip.why_not())
@unittest.skipUnless(importlib.util.find_spec("torch"), "python3-torch is not "
                     "installed: third_party/install "
                     "third_party/torch_packages.txt")
class TrainTest(unittest.TestCase):
    def test_ranks_train_on_hosts_of_their_own(self):
        with tempfile.TemporaryDirectory() as folder:
            made_up_data.write_images(folder, training=512, test=50)
            path = os.path.join(folder, "runs.json")
            done = subprocess.run(
                [sys.executable, "-B", "-m", "bench.train", "--library",
                 LIBRARY, "--binary", WORKER,
                 "--model", "fashion", "--data", folder, "--ranks", "2",
                 "--json", path, "--lab", "straggler", "--lab-rate", "200"],
                capture_output=True, text=True, check=False, timeout=_LIMIT_S,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path),
                     "GLOO_UBT_BOUND": "5s"})
            self.assertEqual(0, done.returncode, done.stderr)
            with open(path, encoding="utf-8") as file:
                ring, optireduce = json.load(file)["rows"]
        # A sum of two is the same in either order: nothing was lost.
        self.assertEqual(ring["loss"], optireduce["loss"])
        for run in (ring, optireduce):
            self.assertEqual(("straggler", 200, 1), (
                run["lab_environment"], run["lab_rate_mbit"],
                run["lab_seed"]))
            # Twice half of 3.3 MB over 200 Mbit/s.
            self.assertGreater(run["ms_per_step"], 125)
        self.assertIn("in a lab: straggler", done.stdout)


if __name__ == "__main__":
    junit_main.main()
