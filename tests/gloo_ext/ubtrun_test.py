# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from gloo_ext.ubtrun_lib import arguments, environment, ranks
from tests import junit_main


def parse(*words):
    return arguments.parse(list(words))


class Arguments(unittest.TestCase):
    def test_what_stands_behind_the_script_is_the_scripts(self):
        options = parse("--algo", "ring", "train.py", "--algo", "sgd", "-h")
        self.assertEqual(options.algo, "ring")
        self.assertEqual(options.arguments, ["--algo", "sgd", "-h"])

    def test_nonsense_is_named(self):
        for words, text in ((["--algo", "rnig", "a.py"], "rnig"),
                            (["--nproc-per-node", "0", "a.py"], "1 or more"),
                            ([], "which script?")):
            said = io.StringIO()
            with self.subTest(words), contextlib.redirect_stderr(said), \
                    self.assertRaises(SystemExit):
                parse(*words)
            self.assertIn(text, said.getvalue())


class Environment(unittest.TestCase):
    def test_options_become_variables(self):
        options = parse("--repair", "none", "--bound", "20ms", "--min-bytes",
                        "1", "--report", "/r", "--interface", "eth0", "a.py")
        self.assertEqual(
            environment.of_library(options, "/lib.so", {"LD_PRELOAD": "b.so"}),
            {"LD_PRELOAD": "/lib.so:b.so", "GLOO_ALGO": "optireduce",
             "GLOO_UBT_REPAIR": "none", "GLOO_UBT_BOUND": "20ms",
             "GLOO_UBT_MIN_BYTES": "1", "GLOO_UBT_REPORT": "/r",
             "GLOO_SOCKET_IFNAME": "eth0"})
        self.assertEqual(
            environment.of_library(parse("a.py"), "/lib.so", {}),
            {"LD_PRELOAD": "/lib.so", "GLOO_ALGO": "optireduce"})

    def test_launchers_are_understood(self):
        self.assertEqual(
            environment.of_launcher({"RANK": "1", "WORLD_SIZE": "2"}), {})
        self.assertEqual(
            environment.of_launcher(
                {"SLURM_PROCID": "3", "SLURM_NTASKS": "8", "SLURM_LOCALID": "1",
                 "MASTER_ADDR": "a", "MASTER_PORT": "1"}),
            {"RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "1"})
        found = environment.of_launcher(
            {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2",
             "OMPI_COMM_WORLD_LOCAL_RANK": "0", "MASTER_ADDR": "a"})
        self.assertEqual(found["RANK"], "0")
        self.assertTrue(found["MASTER_PORT"].isdigit())

    def test_what_a_launcher_leaves_open_is_named(self):
        for said, text in (({}, "--nproc-per-node"),
                           ({"PMI_RANK": "0", "PMI_SIZE": "2"}, "MASTER_ADDR")):
            with self.subTest(said), self.assertRaisesRegex(
                    environment.LauncherError, text):
                environment.of_launcher(said)


class Ranks(unittest.TestCase):
    def run_ranks(self, code, count=3):
        return ranks.run([sys.executable, "-c", code], count, os.environ)

    def test_each_knows_its_place(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.run_ranks(
                f"import os; e = os.environ; int(e['MASTER_PORT']); "
                f"open('{folder}/' + e['RANK'] + e['LOCAL_RANK'] + "
                "e['WORLD_SIZE'], 'w')"), 0)
            self.assertEqual(sorted(os.listdir(folder)), ["003", "113", "223"])

    def test_one_that_fails_ends_all(self):
        began = time.monotonic()
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(self.run_ranks(
                "import os, sys, time; sys.exit(7) if os.environ['RANK'] == '1'"
                " else time.sleep(600)"), 7)
        self.assertIn("rank 1 ended with 7", said.getvalue())
        self.assertLess(time.monotonic() - began, 300)

    def test_ctrl_c_ends_all(self):
        with tempfile.TemporaryDirectory() as folder:
            code = (f"import os, time; open('{folder}/%d' % os.getpid(), 'w'); "
                    "time.sleep(600)")
            job = subprocess.Popen(
                [sys.executable, "-c",
                 "import os, sys; from gloo_ext.ubtrun_lib import ranks; "
                 f"sys.exit(ranks.run([sys.executable, '-c', {code!r}], 3, "
                 "os.environ))"],
                env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
                stderr=subprocess.DEVNULL)
            while len(os.listdir(folder)) < 3:
                time.sleep(0.01)
            job.send_signal(signal.SIGINT)
            self.assertEqual(job.wait(60), 128 + signal.SIGINT)
            for process in os.listdir(folder):
                self.assertFalse(os.path.exists(f"/proc/{process}"))


if __name__ == "__main__":
    junit_main.main()
