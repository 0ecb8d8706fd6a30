# SPDX-License-Identifier: Apache-2.0
"""benchmark/lab itself: the environment of commands, and that nothing
remains."""
import glob
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest

import namespaces_or_skip
import waiting
from tests import junit_main

LAB = os.path.abspath("benchmark/lab")
_LIMIT_S = 60
# Prints its namespace, and tries to leave processes behind.
_LITTER = """
    readlink /proc/self/ns/net
    sleep 1000 & setsid sh -c 'trap "" TERM INT HUP; sleep 1000' &
    wait"""


def holders(namespaces):
    """Paths in /proc of processes that hold these namespaces ("net:[1]")."""
    held = []
    for path in glob.glob("/proc/[0-9]*/ns/net") + glob.glob(
            "/proc/[0-9]*/fd/*"):
        try:
            if os.readlink(path) in namespaces:
                held.append(path)
        except OSError:
            pass  # it has ended, or the file was closed
    return held


def mounted_namespaces():
    """The mounts of namespaces here: what "ip netns add" leaves, by anyone."""
    with open("/proc/self/mountinfo", encoding="utf-8") as mounts:
        return [mount for mount in mounts if " nsfs " in mount]


@unittest.skipIf(namespaces_or_skip.why_not(), namespaces_or_skip.why_not())
class LabTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.log = os.path.join(folder.name, "log")
        self.mounts = mounted_namespaces()

    def run_lab(self, *argv):
        done = subprocess.run([LAB, *argv], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False,
                              timeout=_LIMIT_S)
        return done.returncode, sorted(done.stdout.splitlines()), done.stderr

    def start_with_litter(self):
        """Returns the process, and its hosts' namespaces."""
        with open(self.log, "w", encoding="utf-8") as log:
            process = subprocess.Popen(
                [LAB, "--hosts", "2", "--environment", "mixed", "--", "sh",
                 "-c", _LITTER], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        namespaces = waiting.wait_for(self.two_namespaces, _LIMIT_S)
        # Three of each host, and two or more of the lab itself.
        waiting.wait_for(lambda: len(holders(namespaces)) >= 8, _LIMIT_S)
        return process, namespaces

    def two_namespaces(self):
        found = set(re.findall(r"net:\[\d+\]", self.said()))
        return found if len(found) == 2 else None

    def said(self):
        with open(self.log, encoding="utf-8") as log:
            return log.read()

    def check_nothing_is_left(self, namespaces):
        waiting.wait_for(lambda: not holders(namespaces), _LIMIT_S)
        self.assertEqual(self.mounts, mounted_namespaces())

    def test_what_a_command_finds(self):
        code, lines, errors = self.run_lab(
            "--hosts", "2", "--", "sh", "-c",
            "echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE "
            "$MASTER_ADDR $MASTER_PORT $GLOO_SOCKET_IFNAME; "
            "ip -o -4 address show eth0 | grep -o 'inet [^ ]*'")
        self.assertEqual((0, ""), (code, errors))
        self.assertEqual(
            ["0: 0 2 0 1 10.77.0.1 29500 eth0", "0: inet 10.77.0.1/16",
             "1: 1 2 0 1 10.77.0.1 29500 eth0", "1: inet 10.77.0.2/16"],
            lines)

    def test_one_host_has_its_output_for_itself(self):
        self.assertEqual((0, ["hello"], ""),
                         self.run_lab("--hosts", "1", "--", "echo", "hello"))

    def test_no_way_out(self):
        code, _, errors = self.run_lab(
            "--hosts", "1", "--", "bash", "-c", "echo > /dev/udp/192.0.2.1/9")
        self.assertEqual(1, code)
        self.assertIn("unreachable", errors)

    def test_the_first_failure_counts_and_is_named(self):
        began = time.monotonic()
        code, _, errors = self.run_lab(
            "--hosts", "3", "--", "sh", "-c",
            "[ $RANK != 1 ] || exit 7; sleep 1000")
        self.assertEqual(7, code)
        self.assertIn("host 1's command ended with exit code 7", errors)
        self.assertIn("have been ended", errors)
        self.assertLess(time.monotonic() - began, _LIMIT_S / 2)

    def test_a_command_that_is_killed_is_named(self):
        code, _, errors = self.run_lab(
            "--hosts", "3", "--", "sh", "-c",
            "[ $RANK != 2 ] || kill -9 $$; sleep 1000")
        self.assertEqual(128 + signal.SIGKILL, code)
        self.assertIn("host 2's command was ended by SIGKILL", errors)

    def test_flows_share_a_link(self):
        code, _, errors = self.run_lab(
            "--hosts", "3", "--rate", "50", "--flows", "2", "--", "sleep", "3")
        self.assertEqual(0, code)
        rates = [float(rate) for rate in re.findall(
            r"TCP flow from host \d to host \d: ([\d.]+) of 50 Mbit/s",
            errors)]
        self.assertEqual(2, len(rates))
        self.assertLess(sum(rates), 51)
        self.assertGreater(sum(rates), 25)

    def test_killed_it_leaves_nothing(self):
        process, namespaces = self.start_with_litter()
        process.kill()
        process.wait()
        self.check_nothing_is_left(namespaces)
        # Nothing blocks the next lab.
        self.assertEqual(0, self.run_lab("--hosts", "2", "--", "true")[0])

    def test_with_its_inner_process_killed_it_leaves_nothing(self):
        process, namespaces = self.start_with_litter()
        with open(f"/proc/{process.pid}/task/{process.pid}/children",
                  encoding="ascii") as children:
            inner, = map(int, children.read().split())
        os.kill(inner, signal.SIGKILL)
        self.assertEqual(1, process.wait(_LIMIT_S))
        self.assertIn("the lab was ended by SIGKILL", self.said())
        self.check_nothing_is_left(namespaces)

    def test_interrupted_it_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number):
                process, namespaces = self.start_with_litter()
                os.killpg(process.pid, number)  # as a terminal does
                self.assertEqual(130, process.wait(_LIMIT_S))
                self.assertIn("interrupted", self.said())
                self.check_nothing_is_left(namespaces)

    def test_two_at_a_time(self):
        process, namespaces = self.start_with_litter()
        code, lines, _ = self.run_lab(
            "--hosts", "2", "--", "readlink", "/proc/self/ns/net")
        self.assertEqual(0, code)
        self.assertEqual(2, len(lines))
        for line in lines:
            self.assertNotIn(line.split()[1], namespaces)
        self.assertTrue(holders(namespaces))
        self.assertIsNone(process.poll())


if __name__ == "__main__":
    junit_main.main()
