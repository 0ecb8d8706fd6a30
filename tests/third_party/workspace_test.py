# SPDX-License-Identifier: Apache-2.0
"""A program of another Bazel workspace, as README.md describes it. Compiles
one source. It does not build the library again, which takes minutes."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from tests import junit_main
from tests.tidy import workspace

BUILD = """\
cc_library(  # a program needs the library
    name = "allreduce",
    srcs = ["allreduce.cc"],
    deps = [
%s    ],
)
"""
NEEDED = ("rules_cc", "rules_java", "remote_coverage_tools")


class Workspace(unittest.TestCase):
    def test_it_compiles_a_program(self):
        root = workspace.root()
        with open(os.path.join(root, "README.md"), encoding="utf-8") as file:
            readme = file.read()
        deps = re.findall(r'"@gloo_ubt//[^"]*"', readme)
        self.assertGreater(len(deps), 1, "README.md names no targets")
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(os.path.join(root, "docs", "example", "allreduce.cc"),
                        folder)
            with open(os.path.join(folder, "BUILD.bazel"), "w",
                      encoding="utf-8") as file:
                file.write(BUILD % "".join(f"        {dep},\n"
                                           for dep in deps))
            # What Bazel would download, as in this project's WORKSPACE.
            with open(os.path.join(root, "WORKSPACE"), encoding="utf-8") as own:
                stands_in = own.read().replace('"third_party/',
                                               f'"{root}/third_party/')
            with open(os.path.join(folder, "WORKSPACE"), "w",
                      encoding="utf-8") as file:
                file.write(f'local_repository(name = "gloo_ubt", '
                           f'path = "{root}")\n')
                for name in NEEDED:
                    file.write(re.search(
                        r'local_repository\(\n    name = "' + name
                        + r'",.*?\n\)\n', stands_in, re.DOTALL)[0])
            bazel = ["bazel", f"--output_user_root={folder}/out",
                     "--max_idle_secs=5"]
            done = subprocess.run(
                [*bazel, "build", "--spawn_strategy=local",
                 "--cxxopt=-std=c++17", ":allreduce"], cwd=folder,
                env={"PATH": "/usr/bin:/bin", "HOME": folder},
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, check=False)
            subprocess.run([*bazel, "shutdown"], cwd=folder,
                           env={"PATH": "/usr/bin:/bin", "HOME": folder},
                           stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
            # Its files are read-only.
            subprocess.run(["chmod", "-R", "u+w", folder], check=True)
        self.assertEqual(0, done.returncode, done.stdout)


if __name__ == "__main__":
    junit_main.main()
