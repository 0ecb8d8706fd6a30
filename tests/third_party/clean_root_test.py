# SPDX-License-Identifier: Apache-2.0
"""Packages and wheel in a Debian that has nothing else. Needs root, to make it;
otherwise visibly skipped."""
import os
import shutil
import subprocess
import tempfile
import unittest

from tests import junit_main

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
EXAMPLE = os.path.join(ROOT, "docs", "example")
TORCH = os.path.expanduser("~root/.cache/gloo_ubt/torch-2.13.0")
RANKS = 2
USER = 1000  # the root has no such user, and needs none
# Shows the root the folder with the packages.
_LETS_IN = "/usr/share/mmdebstrap/hooks/file-mirror-automount"
SCRIPT = """\
import torch
import torch.distributed as dist

import gloo_ubt

dist.init_process_group("gloo")
for step in range(30):
    tensor = torch.full((1 << 17,), float(dist.get_rank() + 1))
    dist.all_reduce(tensor)
    assert tensor.eq(3).all(), tensor
assert gloo_ubt.stats()["bounded_ops"] == 30
dist.destroy_process_group()  # PyTorch may abort without it
"""


def run(*command, **variables):
    return subprocess.run(
        command, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **variables},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, check=False)


def made(*command):
    """The paths that a command of third_party/ prints."""
    done = run(os.path.join(ROOT, "third_party", command[0]), *command[1:])
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@unittest.skipUnless(os.geteuid() == 0, "needs root")
@unittest.skipUnless(shutil.which("mmdebstrap"), "no mmdebstrap: "
                     "third_party/install brings it")
class CleanRoot(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = os.path.join(folder.name, "root")
        packages = made(
            "package", "--deb", folder.name, "--libraries",
            os.path.join(ROOT, "third_party", "packaging"))
        wanted = ["cmake", "g++", "make", "python3-venv", *packages]
        done = run("mmdebstrap", "--variant=apt", f"--hook-dir={_LETS_IN}",
                   f"--include={','.join(wanted)}", "bookworm", cls.root)
        assert done.returncode == 0, done.stderr
        with open(os.path.join(cls.root, "etc", "hosts"), "w",
                  encoding="ascii") as file:  # as Debian's installer does
            file.write("127.0.0.1 localhost\n")

    def inside(self, *command, user=0, **variables):
        """Runs a command in the root. Returns its output."""
        done = run("chroot", f"--userspec={user}:{user}", self.root, *command,
                   **variables)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return done.stdout

    def test_cmake_finds_the_packages(self):
        source = os.path.join(self.root, "tmp", "example")
        os.mkdir(source)
        for name in "CMakeLists.txt", "allreduce.cc":
            shutil.copy(os.path.join(EXAMPLE, name), source)
        self.inside("cmake", "-S", "/tmp/example", "-B", "/tmp/build")
        self.inside("cmake", "--build", "/tmp/build")
        os.mkdir(os.path.join(self.root, "tmp", "meeting"))
        ranks = [subprocess.Popen(
            ["timeout", "50", "chroot", self.root, "/tmp/build/allreduce",
             str(rank), str(RANKS), "/tmp/meeting"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for rank in range(RANKS)]
        for rank in ranks:
            out, err = rank.communicate()
            self.assertEqual(0, rank.returncode, err)
            self.assertEqual(30, len(out.splitlines()), out)

    def test_pip_installs_the_wheel(self):
        if not os.path.exists(os.path.join(TORCH, "complete")):
            self.skipTest("no torch: third_party/install_torch brings it")
        [wheel] = made("wheel", "--out", os.path.join(self.root, "tmp"),
                       "--library",
                       os.path.join(ROOT, "gloo_ext", "libgloo_ubt.so"))
        self.inside("sh", "-c", "! command -v bazel")
        self.inside("python3", "-m", "venv", "/tmp/venv", user=USER)
        self.inside("/tmp/venv/bin/pip", "install", "--no-index",
                    f"/tmp/{os.path.basename(wheel)}", user=USER)
        packages = "lib/python3.11/site-packages"
        shutil.copytree(os.path.join(TORCH, packages),
                        os.path.join(self.root, "tmp", "torch"))
        with open(os.path.join(self.root, "tmp", "train.py"), "w",
                  encoding="utf-8") as file:
            file.write(SCRIPT)
        self.inside("/tmp/venv/bin/gloo_ubt", "run", "--nproc-per-node",
                    str(RANKS), "/tmp/train.py", user=USER,
                    PYTHONPATH="/tmp/torch", GLOO_UBT_BOUND="20s",
                    GLOO_SOCKET_IFNAME="lo")


if __name__ == "__main__":
    junit_main.main()
