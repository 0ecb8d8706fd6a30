# SPDX-License-Identifier: Apache-2.0
"""Any Gloo serves calls. A user who asked for another algorithm gets a
warning."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from tests import junit_main

HERE = Path(os.path.abspath(__file__)).parent  # keeps links: see runfiles
LIBRARY = HERE.parent.parent.parent / "gloo_ext" / "libgloo_ubt.so"
SERVED = "the original serves\n" * 2


def run(folder, ranks=-1, algorithm="optireduce", before=""):
    """The output of a program that calls that folder's Gloo."""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(HERE / folder),
                   "LD_PRELOAD": f"{before}:{LIBRARY}"}
    if algorithm is not None:
        environment["GLOO_ALGO"] = algorithm
    return subprocess.run([str(HERE / "calls_gloo"), str(ranks)],
                          env=environment, timeout=60, check=True,
                          capture_output=True, text=True)


class StrangeGloo(unittest.TestCase):
    def check(self, done, warning):
        self.assertEqual(done.stdout, SERVED)
        self.assertEqual(done.stderr.count("warning:"), 1, done.stderr)
        self.assertIn(warning, done.stderr)
        self.assertIn("plain Gloo serves every call", done.stderr)

    def test_a_function_that_is_needed_is_not_there(self):
        self.check(run("lacking"), "lacks a required function")

    def test_a_context_of_another_layout(self):
        self.check(run("other"), "has an unknown layout")

    def test_a_buffer_of_another_layout(self):
        self.check(run("other", ranks=4), "has an unknown layout")

    def test_the_library_comes_too_late(self):
        first = HERE / "other" / "libgloo.so.0"
        self.check(run("other", before=first), f"{first} precedes it")

    def test_another_copy_comes_first(self):
        with tempfile.TemporaryDirectory() as folder:
            first = shutil.copy(LIBRARY, folder)
            done = run("other", before=first)
        self.assertEqual(done.stdout, SERVED)
        self.assertEqual(done.stderr.count("another copy"), 1, done.stderr)
        self.assertIn(f"another copy, {first}, precedes it", done.stderr)

    def test_a_torch_without_gloo(self):
        done = subprocess.run(
            [str(HERE / "loads_torch")], check=True, capture_output=True,
            text=True, timeout=60, env={**os.environ, "GLOO_ALGO": "optireduce",
                                        "LD_PRELOAD": str(LIBRARY)})
        self.assertEqual(done.stderr.count("warning:"), 1, done.stderr)
        self.assertIn("PyTorch exports no Gloo", done.stderr)

    def test_without_an_algorithm_nothing_is_said(self):
        for folder in ("lacking", "other"):
            done = run(folder, algorithm=None)
            self.assertEqual((done.stdout, done.stderr), (SERVED, ""))


if __name__ == "__main__":
    junit_main.main()
