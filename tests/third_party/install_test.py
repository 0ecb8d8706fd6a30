# SPDX-License-Identifier: Apache-2.0
"""third_party/install, with programs in place of Debian's that only pretend."""
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from tests import junit_main

_INSTALL = "third_party/install"
_LIMIT_S = 30

# dpkg-query knows no package; apt-get does what the test says.
_PROGRAMS = {
    "dpkg-query": "exit 1",
    "sudo": 'exec "$@"',
    "apt-get": 'echo "$@" >> "$INSTALL_TEST_ROOT/apt"; eval "$APT_GET"',
}


class InstallTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        self.programs = os.path.join(self.root, "bin")
        self.policy = os.path.join(self.root, "usr/sbin/policy-rc.d")
        self.apt = os.path.join(self.root, "apt")
        os.makedirs(os.path.dirname(self.policy))
        os.makedirs(self.programs)
        for name, text in _PROGRAMS.items():
            path = os.path.join(self.programs, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/bash\n{text}\n")
            os.chmod(path, 0o755)

    def start(self, apt_get, *arguments):
        environment = dict(
            os.environ, APT_GET=apt_get, INSTALL_TEST_ROOT=self.root,
            PATH=self.programs + ":" + os.environ["PATH"])
        # A group of its own, as a terminal's foreground job is.
        return subprocess.Popen(
            [_INSTALL, *arguments], env=environment, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def lines(self, path):
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()

    def test_without_root_it_tells_what_needs_none(self):
        sudo = os.path.join(self.programs, "sudo")
        for name in "bash", "sed", "awk", "dirname":
            os.symlink(shutil.which(name), os.path.join(self.programs, name))
        for refuses in (True, False):
            if refuses:
                with open(sudo, "w", encoding="utf-8") as file:
                    file.write("#!/bin/bash\nexit 1\n")
            else:
                os.remove(sudo)
            # Nobody's process that may read root's files.
            done = subprocess.run(
                [shutil.which("unshare"), "--user", "--", _INSTALL],
                env={"PATH": self.programs}, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, check=False)
            self.assertEqual(1, done.returncode, done.stdout)
            self.assertIn("as root, or with sudo", done.stdout)
            self.assertIn("third_party/wheel", done.stdout)

    def test_installs_missing_packages_and_cleans_up(self):
        process = self.start(f'[[ -x "{self.policy}" ]]')
        output, _ = process.communicate(timeout=_LIMIT_S)
        self.assertEqual(process.returncode, 0, output)
        update, install = self.lines(self.apt)
        self.assertIn("update", update)
        self.assertIn("libgloo-dev", install.split())
        self.assertFalse(os.path.exists(self.policy))

    def test_installs_another_list_instead(self):
        path = os.path.join(self.root, "list.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write("# a remark\n\nonly-this  # why\n")
        process = self.start("exit 0", path)
        output, _ = process.communicate(timeout=_LIMIT_S)
        self.assertEqual(process.returncode, 0, output)
        install = self.lines(self.apt)[-1].split()
        self.assertEqual(install[-1], "only-this")
        self.assertNotIn("libgloo-dev", install)

    def test_a_list_that_is_not_there_is_named(self):
        process = self.start("exit 0", "/nowhere/list.txt")
        output, _ = process.communicate(timeout=_LIMIT_S)
        self.assertEqual(process.returncode, 2)
        self.assertIn("/nowhere/list.txt", output)
        self.assertFalse(os.path.exists(self.apt))

    def test_a_failure_shows_the_output_of_apt_get_and_cleans_up(self):
        process = self.start("echo no network; exit 100")
        output, _ = process.communicate(timeout=_LIMIT_S)
        self.assertEqual(process.returncode, 100)
        self.assertIn("no network", output)
        self.assertIn("apt-get failed", output)
        self.assertFalse(os.path.exists(self.policy))

    def test_an_interruption_cleans_up(self):
        for number in signal.SIGINT, signal.SIGTERM:
            process = self.start("exec sleep 60")
            end = time.monotonic() + _LIMIT_S
            while not os.path.exists(self.apt):
                self.assertLess(time.monotonic(), end)
                time.sleep(0.01)
            self.assertTrue(os.path.exists(self.policy))
            os.killpg(process.pid, number)
            process.communicate(timeout=_LIMIT_S)
            self.assertNotEqual(process.returncode, 0)
            self.assertFalse(os.path.exists(self.policy), number)
            os.remove(self.apt)

    def test_a_policy_that_was_there_stays(self):
        with open(self.policy, "w", encoding="utf-8") as file:
            file.write("the administrator's")
        process = self.start("exit 0")
        process.communicate(timeout=_LIMIT_S)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.lines(self.policy), ["the administrator's"])

    def test_a_home_that_is_read_only_is_named(self):
        done = subprocess.run(
            ["third_party/install_torch"], env={**os.environ, "HOME": "/proc"},
            stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("HOME: cannot make the folder '/proc/.cache/gloo_ubt'",
                      done.stderr)

    def test_the_wheel_takes_no_arguments(self):
        wrong = subprocess.run(["third_party/install_torch", "--forec"],
                               stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("--forec", wrong.stderr)


if __name__ == "__main__":
    junit_main.main()
