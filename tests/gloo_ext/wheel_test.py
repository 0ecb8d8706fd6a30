# SPDX-License-Identifier: Apache-2.0
"""The wheel as a user without root, Bazel or Debian's libraries gets it.
Needs PyPI's torch and auditwheel (tests/run brings them); otherwise visibly
skipped."""
import email
import glob
import os
import pwd
import shutil
import subprocess
import tempfile
import textwrap
import unittest
import zipfile

from front_end.version import VERSION
from tests import junit_main

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
# Tests have no HOME.
CACHE = os.path.join(pwd.getpwuid(os.getuid()).pw_dir, ".cache", "gloo_ubt")
TORCH = os.path.join(CACHE, "torch-2.13.0")
TOOLS = os.path.join(CACHE, "wheel-tools-1", "complete")
EXAMPLE = os.path.join(ROOT, "docs", "example", "train.py")
SCRIPT = """\
import os
import torch
import torch.distributed as dist

import gloo_ubt

assert os.geteuid() != 0
dist.init_process_group("gloo")
for step in range(40):
    tensor = torch.full((1 << 17,), float(dist.get_rank() + 1))
    dist.all_reduce(tensor)
assert gloo_ubt.loaded()
assert tensor.eq(3).all(), tensor
assert gloo_ubt.stats()["bounded_ops"] == 40
assert os.environ["LD_PRELOAD"] == gloo_ubt.preload_path()
dist.destroy_process_group()  # PyTorch may abort without it
"""


def run(*command, **variables):
    return subprocess.run(
        command, env={"PATH": "/usr/bin:/bin", **variables},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, check=False)


def build(out, *more):
    return run(os.path.join(ROOT, "third_party", "wheel"), "--out", out,
               "--library", os.path.join(ROOT, "gloo_ext", "libgloo_ubt.so"),
               *more)


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not os.path.exists(TOOLS):
            raise unittest.SkipTest("no auditwheel: third_party/wheel --only-"
                                    "tools brings it")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        done = build(cls.folder)
        assert done.returncode == 0, done.stderr
        cls.wheel = done.stdout.strip()

    def test_is_for_every_python(self):
        self.assertEqual(
            f"gloo_ubt-{VERSION}-py3-none-manylinux_2_34_x86_64.whl",
            os.path.basename(self.wheel))

    def test_has_its_libraries_and_their_licences(self):
        with zipfile.ZipFile(self.wheel) as file:
            names = file.namelist()
            [metadata] = [name for name in names if name.endswith("METADATA")]
            about = email.message_from_bytes(file.read(metadata))
        self.assertEqual(VERSION, about["Version"])
        for library in "libhwy", "libuv", "libsodium":
            self.assertTrue([name for name in names if name.startswith(
                f"gloo_ubt.libs/{library}-")], names)
            self.assertIn(f"LICENSE.{library}", about.get_all("License-File"))
        for end in ("gloo_ubt/startup/sitecustomize.py", "/man7/gloo_ubt.7",
                    "/bash-completion/completions/gloo_ubt"):
            self.assertTrue([name for name in names if name.endswith(end)],
                            names)
        self.assertEqual([], [name for name in names if "bazel" in name
                              or name.endswith("ubtrun.py")])

    def install(self, name):
        """A new virtual environment with the wheel. Returns its Python."""
        folder = os.path.join(self.folder, name)
        done = run("/usr/bin/python3", "-m", "venv", folder)
        self.assertEqual(0, done.returncode, done.stderr)
        done = run(os.path.join(folder, "bin", "pip"), "install", "--no-index",
                   self.wheel)
        self.assertEqual(0, done.returncode, done.stderr)
        return os.path.join(folder, "bin", "python")

    def launched(self, python, script, **variables):
        """The standard error of two ranks, of a user without root."""
        # Nobody's process that may read root's files.
        done = run("unshare", "--user", "--", python, "-m", "gloo_ubt", "run",
                   "--nproc-per-node", "2", script, GLOO_SOCKET_IFNAME="lo",
                   **variables)
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stderr

    def test_runs_a_training_for_a_user_without_root(self):
        if not os.path.exists(os.path.join(TORCH, "complete")):
            self.skipTest("no torch: third_party/install_torch brings it")
        python = self.install("with_torch_ü")
        [site] = glob.glob(os.path.join(os.path.dirname(os.path.dirname(
            python)), "lib", "python3*", "site-packages"))
        [torch] = glob.glob(os.path.join(TORCH, "lib", "python3*",
                                         "site-packages"))
        with open(os.path.join(site, "torch.pth"), "w",
                  encoding="utf-8") as file:
            file.write(torch + "\n")
        script = os.path.join(self.folder, "train.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(SCRIPT))
        self.assertIn(
            "optireduce: 40 ops, 0 % missing",
            self.launched(python, script, GLOO_UBT_BOUND="20s"))
        watched = os.path.join(self.folder, "watched")
        os.mkdir(watched)
        self.assertIn("optireduce: 80 ops", self.launched(
            python, EXAMPLE, GLOO_UBT_REPORT=watched, GLOO_UBT_TRACE=watched))
        done = run(python, "-m", "gloo_ubt", "top", "--once", watched)
        ranks = [line.split() for line in done.stdout.splitlines()[3:]]
        self.assertEqual([["0", "80"], ["1", "80"]],
                         [row[:2] for row in ranks], done.stdout + done.stderr)
        timeline = os.path.join(self.folder, "timeline.json")
        done = run(python, "-m", "gloo_ubt", "timeline", "--out", timeline,
                   watched)
        self.assertIn("100 allreduces of 2 files", done.stdout, done.stderr)

    def test_a_wrong_setting_ends_it_before_ranks_start(self):
        python = self.install("checks")
        folder = os.path.join(self.folder, "pretends")
        os.mkdir(folder)
        torch = os.path.join(folder, "torch.py")
        with open(torch, "w", encoding="utf-8"):
            pass
        for argv, variables, words in (
                (["--bound", "20"], {}, ["GLOO_UBT_BOUND=20", "20ms"]),
                (["--min-bytes", "1M"], {}, ["GLOO_UBT_MIN_BYTES=1M"]),
                ([], {"GLOO_UBT_REPAIR": "some"}, ["GLOO_UBT_REPAIR=some"])):
            done = run(python, "-m", "gloo_ubt", "run", "--nproc-per-node",
                       "2", *argv, torch, PYTHONPATH=folder, **variables)
            self.assertEqual(2, done.returncode, done.stderr)
            [line] = done.stderr.splitlines()
            for word in words:
                self.assertIn(word, line)

    def test_its_command_is_in_path(self):
        python = self.install("alone")
        command = os.path.join(os.path.dirname(python), "gloo_ubt")
        self.assertIn("run SCRIPT", run(command, "--help").stdout)
        self.assertEqual(f"gloo_ubt {VERSION}\n",
                         run(command, "--version").stdout)
        done = run(command, "run", __file__)
        self.assertEqual(2, done.returncode)
        self.assertIn("pip install torch", done.stderr)

    def test_pip_refuses_one_for_another_platform(self):
        python = self.install("x86")
        name = os.path.basename(self.wheel).replace("x86_64", "aarch64")
        done = run(python, "-m", "pip", "install", "--no-index",
                   shutil.copy(self.wheel, os.path.join(self.folder, name)))
        self.assertNotEqual(0, done.returncode)
        self.assertIn(f"{name} is not a supported wheel on this platform",
                      done.stderr)


class Mistakes(unittest.TestCase):
    def test_name_culprit_and_remedy(self):
        for argv, text in (([], "--out DIR: where"),
                           (["--out"], "--out: what?"),
                           (["--outt", "x"], "there is no '--outt'"),
                           (["--out", "/tmp", "--library", "/nowhere.so"],
                            "no library '/nowhere.so'"),
                           (["--out", "/proc/x"], "cannot make the folder "
                            "'/proc/x'")):
            done = run(os.path.join(ROOT, "third_party", "wheel"), *argv)
            self.assertEqual(2, done.returncode, done.stderr)
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    junit_main.main()
