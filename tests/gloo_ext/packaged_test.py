# SPDX-License-Identifier: Apache-2.0
"""python -m gloo_ubt run and env, from a folder laid out as a wheel is. The
torch is an empty file: the scripts here only look at their variables."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from tests import junit_main

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "gloo_ext")


class Packaged(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.package = os.path.join(folder.name, "site", "gloo_ubt")
        shutil.copytree(os.path.join(SOURCE, "python", "gloo_ubt"),
                        self.package)

    def install(self):
        """Adds what makes it a wheel, and a torch."""
        shutil.copytree(os.path.join(SOURCE, "front_end"),
                        os.path.join(self.package, "front_end"))
        self.library = shutil.copy(os.path.join(SOURCE, "libgloo_ubt.so"),
                                   self.package)
        with open(os.path.join(os.path.dirname(self.package), "torch.py"), "w",
                  encoding="utf-8"):
            pass

    def run_it(self, *argv, **variables):
        return subprocess.run(
            [sys.executable, "-m", "gloo_ubt", *argv], cwd=self.folder,
            env={**os.environ, **variables,
                 "PYTHONPATH": os.path.dirname(self.package)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            check=False)

    def script(self, text):
        path = os.path.join(self.folder, "train.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_runs_ranks_over_the_library_beside_it(self):
        self.install()
        done = self.run_it(
            "run", "--nproc-per-node", "2", "--algo", "ring", self.script(
                "import os, sys\n"
                "said = [os.environ[name] for name in (\n"
                "    'RANK', 'WORLD_SIZE', 'GLOO_ALGO', 'LD_PRELOAD')]\n"
                # In one write, because ranks share the output.
                "os.write(1, f'{\" \".join(said)} {sys.argv[1:]}\\n'.encode())"),
            "--lr", "1")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(
            [f"{rank} 2 ring {self.library} ['--lr', '1']" for rank in (0, 1)],
            sorted(done.stdout.splitlines()))

    def test_env_says_what_a_launcher_has_to_set(self):
        self.install()
        done = self.run_it("env", "--min-bytes", "1")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("export GLOO_ALGO=optireduce\n", done.stdout)
        self.assertIn("export GLOO_UBT_MIN_BYTES=1\n", done.stdout)
        self.assertIn("/gloo_ubt/libgloo_ubt.so\n", done.stdout)

    def test_env_refuses_what_ranks_would_refuse(self):
        self.install()
        for argv, words in ((["--bound", "20"], "GLOO_UBT_BOUND=20: expected"),
                            (["--interface", "nosuch0"],
                             "--interface nosuch0: this host has no")):
            done = self.run_it("env", *argv)
            self.assertEqual((2, ""), (done.returncode, done.stdout))
            self.assertIn(words, done.stderr)

    def test_env_leads_to_the_start_up_code_if_it_is_needed(self):
        self.install()
        done = self.run_it("env", "--bounded", "ddp")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("export GLOO_UBT_BOUNDED=ddp\n", done.stdout)
        startup = os.path.join(self.package, "startup")
        self.assertIn(f"export PYTHONPATH={startup}:", done.stdout)
        self.assertTrue(os.path.exists(os.path.join(
            startup, "sitecustomize.py")))

    def test_help_and_errors_have_its_name(self):
        self.install()
        self.assertIn("torchrun --nproc_per_node 4 --no_python python -m "
                      "gloo_ubt run train.py",
                      self.run_it("run", "--help").stdout)
        done = self.run_it("run", "--nproc-per-node", "1", "/nowhere.py")
        self.assertEqual((2, "python -m gloo_ubt run: error: there is no "
                          "script '/nowhere.py'\n"),
                         (done.returncode, done.stderr))

    def test_a_python_without_torch_is_named(self):
        self.install()
        python = os.path.join(self.folder, "python")
        with open(python, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
        os.chmod(python, 0o755)
        done = self.run_it("run", "--python", python, self.script(""))
        self.assertEqual(2, done.returncode)
        self.assertIn(f"'{python}' has no PyTorch; install one beside",
                      done.stderr)

    def test_a_path_that_cannot_be_preloaded_is_refused(self):
        self.package = os.path.join(self.folder, "a b", "gloo_ubt")
        shutil.copytree(os.path.join(SOURCE, "python", "gloo_ubt"),
                        self.package)
        self.install()
        done = self.run_it("run", self.script(""))
        self.assertEqual(1, done.returncode)
        self.assertIn("LD_PRELOAD allows no space", done.stderr)
        self.assertIn("a virtual environment whose path", done.stderr)

    def test_a_library_that_cannot_be_loaded_is_named(self):
        self.install()
        os.chmod(self.library, 0o644)
        os.truncate(self.library, 100)
        done = self.run_it("run", "--nproc-per-node", "1", self.script(""))
        self.assertEqual(2, done.returncode, done.stderr)
        self.assertIn(f"cannot load {self.library}: ERROR: ld.so", done.stderr)
        self.assertIn("x86-64 and glibc 2.34", done.stderr)
        self.assertEqual(1, len(done.stderr.splitlines()), done.stderr)

    def test_a_python_that_the_library_does_not_reach_is_named(self):
        self.install()
        python = os.path.join(self.folder, "python")
        with open(python, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nunset LD_PRELOAD\n'
                       f'exec {sys.executable} "$@"\n')
        os.chmod(python, 0o755)
        done = self.run_it("run", "--nproc-per-node", "1", "--python", python,
                           self.script(""))
        self.assertEqual(2, done.returncode, done.stderr)
        self.assertIn(f"'{python}' cannot load", done.stderr)
        self.assertIn("LD_PRELOAD does not reach it", done.stderr)

    def test_without_the_library_it_says_what_to_install(self):
        for command in "run", "env":
            done = self.run_it(command)
            self.assertEqual(1, done.returncode)
            self.assertIn("install the wheel", done.stderr)


if __name__ == "__main__":
    junit_main.main()
