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
import unittest.mock

from front_end import arguments, bazel, environment, ranks, ubtrun
from front_end.errors import UserError
from tests import junit_main
from tests.gloo_ext.ranks import is_alive

# Rank 3 of 4 on one host, as seen with Open MPI 4.1, MPICH 4.0, Slurm 22.05.
LAUNCHED = {
    "Open MPI": {
        "OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4",
        "OMPI_COMM_WORLD_LOCAL_RANK": "3", "OMPI_COMM_WORLD_LOCAL_SIZE": "4",
        "PMIX_NAMESPACE": "1692663809"},
    "MPICH": {
        "PMI_RANK": "3", "PMI_SIZE": "4", "MPI_LOCALRANKID": "3",
        "MPI_LOCALNRANKS": "4"},
    "Slurm": {
        "SLURM_PROCID": "3", "SLURM_STEP_NUM_TASKS": "4",
        "SLURM_LOCALID": "3", "SLURM_STEP_TASKS_PER_NODE": "4",
        "SLURM_NODEID": "0", "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0"},
}


def parse(*words):
    return arguments.parse(ubtrun.PROGRAM, list(words))


class Arguments(unittest.TestCase):
    def test_arguments_after_the_script_belong_to_the_script(self):
        options = parse("--algo", "ring", "train.py", "--algo", "sgd", "-h")
        self.assertEqual(options.algo, "ring")
        self.assertEqual(options.arguments, ["--algo", "sgd", "-h"])

    def test_the_algorithm_may_come_from_the_environment(self):
        with unittest.mock.patch.dict(os.environ, GLOO_ALGO="ring"):
            self.assertEqual(parse("a.py").algo, "ring")
            self.assertEqual(parse("--algo", "bcube", "a.py").algo, "bcube")
        with unittest.mock.patch.dict(os.environ, GLOO_ALGO="rnig"), \
                contextlib.redirect_stderr(io.StringIO()) as said, \
                self.assertRaises(SystemExit):
            parse("a.py")
        self.assertIn("did you mean ring", said.getvalue())

    def test_nonsense_is_named(self):
        for words, text in (
                (["--algo", "rnig", "a.py"], "did you mean ring?"),
                (["--nproc-per-node", "0", "a.py"], "above 0"),
                (["--reprot=/tmp", "a.py"], "did you mean --report?"),
                (["--bound", "20ms"], "which script?"),
                ([], "which script?")):
            said = io.StringIO()
            with self.subTest(words), contextlib.redirect_stderr(said), \
                    self.assertRaises(SystemExit):
                parse(*words)
            self.assertIn(text, said.getvalue())


# Bazel's client, which tells its server to stop if it is asked to.
_BAZEL = """\
#!/bin/bash
trap 'touch "$0.cancelled"; exit 8' TERM
touch "$0.started"
sleep 60 & wait
"""


class Building(unittest.TestCase):
    def bazel(self, script):
        """Makes `script` the Bazel in PATH. Returns its path."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "bazel")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script)
        os.chmod(path, 0o755)
        patch = unittest.mock.patch.dict(
            os.environ, PATH=f"{folder.name}:{os.environ['PATH']}")
        patch.start()
        self.addCleanup(patch.stop)
        return path

    def test_is_announced_only_if_something_is_built(self):
        for is_up_to_date, said in (
                ("true", ""),
                ("false", "Building .*\nBuilt.*bazel shutdown.*\n")):
            self.bazel(f"#!/bin/bash\n[[ $5 != --check_up_to_date ]] || "
                       f"{is_up_to_date}\n")
            err = io.StringIO()
            with contextlib.redirect_stderr(err):
                self.assertTrue(bazel.build("//a:b").endswith("/a/b"))
            self.assertRegex(err.getvalue(), f"^{said}$")

    def test_an_interruption_reaches_bazels_server(self):
        path = self.bazel(_BAZEL)

        def interrupt(_):
            deadline = time.monotonic() + 30
            while not os.path.exists(path + ".started"):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            raise KeyboardInterrupt

        with unittest.mock.patch.object(
                subprocess.Popen, "communicate", interrupt), \
                contextlib.redirect_stderr(io.StringIO()), \
                self.assertRaises(KeyboardInterrupt):
            bazel.build("//a:b")
        self.assertTrue(os.path.exists(path + ".cancelled"))


class Environment(unittest.TestCase):
    def test_options_become_variables(self):
        options = parse("--repair", "none", "--bound", "20ms", "--min-bytes",
                        "1", "--report", "/r", "--interface", "lo",
                        "--bounded", "ddp", "a.py")
        self.assertEqual(
            environment.of_library(options, "/lib.so", {"LD_PRELOAD": "b.so"}),
            {"LD_PRELOAD": "/lib.so:b.so", "GLOO_ALGO": "optireduce",
             "GLOO_UBT_REPAIR": "none", "GLOO_UBT_BOUND": "20ms",
             "GLOO_UBT_MIN_BYTES": "1", "GLOO_UBT_REPORT": "/r",
             "GLOO_SOCKET_IFNAME": "lo", "GLOO_UBT_BOUNDED": "ddp"})
        self.assertEqual(
            environment.of_library(parse("a.py"), "/lib.so", {}),
            {"LD_PRELOAD": "/lib.so", "GLOO_ALGO": "optireduce"})

    def test_a_preloaded_library_is_not_preloaded_twice(self):
        self.assertEqual(
            environment.of_library(parse("a.py"), "/lib.so",
                                   {"LD_PRELOAD": "/lib.so /b.so"}
                                   )["LD_PRELOAD"], "/lib.so:/b.so")

    def test_another_copy_of_the_library_is_named(self):
        with self.assertRaisesRegex(
                UserError, "another copy of the library, /b/lib.so, beside "
                "/lib.so: unset LD_PRELOAD"):
            environment.of_library(parse("a.py"), "/lib.so",
                                   {"LD_PRELOAD": "/a.so:/b/lib.so"})

    def test_start_up_code_comes_first_if_it_is_needed(self):
        program = ubtrun.PROGRAM
        own = [program.startup, *program.packages]
        self.assertTrue(os.path.exists(os.path.join(
            program.startup, "sitecustomize.py")))
        for bounded in ({}, {"GLOO_UBT_BOUNDED": "all"}):
            self.assertEqual({}, environment.of_startup(program, bounded))
        for path, others in ((None, []), ("", []), ("/a:/b", ["/a", "/b"]),
                             (":".join(["/a", *own]), ["/a"])):
            said = {} if path is None else {"PYTHONPATH": path}
            self.assertEqual(
                {"PYTHONPATH": ":".join([*own, *others])},
                environment.of_startup(
                    program, {**said, "GLOO_UBT_BOUNDED": "ddp"}))

    def test_torchrun_has_said_all(self):
        self.assertEqual(environment.of_launcher(
            {"RANK": "1", "WORLD_SIZE": "2", "SLURM_PROCID": "7"}), {})

    def test_ranks_on_one_host_need_no_address(self):
        for name, said in LAUNCHED.items():
            with self.subTest(name):
                found = environment.of_launcher(said)
                self.assertTrue(found.pop("MASTER_PORT").isdigit())
                self.assertEqual(found, {
                    "RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "3",
                    "LOCAL_WORLD_SIZE": "4", "MASTER_ADDR": "127.0.0.1"})

    def test_the_users_settings_stay(self):
        for said in LAUNCHED.values():
            self.assertFalse({"MASTER_ADDR", "MASTER_PORT"} & set(
                environment.of_launcher(
                    {**said, "MASTER_ADDR": "a", "MASTER_PORT": "1"})))

    def test_mpirun_in_a_slurm_job(self):
        found = environment.of_launcher(
            {**LAUNCHED["Slurm"], "SLURM_PROCID": "0", **LAUNCHED["Open MPI"]})
        self.assertEqual(found["RANK"], "3")

    def test_ranks_of_a_job_agree_on_a_port_and_jobs_do_not(self):
        def port(**more):
            return environment.of_launcher(
                {**LAUNCHED["Slurm"], **more})["MASTER_PORT"]

        self.assertEqual(port(SLURM_PROCID="0"), port(SLURM_PROCID="1"))
        self.assertNotEqual(port(), port(SLURM_JOB_ID="8"))
        self.assertNotEqual(port(), port(SLURM_STEP_ID="1"))

    def test_hosts_with_different_numbers_of_ranks(self):
        for host, size in enumerate("443"):
            self.assertEqual(environment.of_launcher(
                {**LAUNCHED["Slurm"], "SLURM_STEP_NUM_TASKS": "11",
                 "SLURM_STEP_TASKS_PER_NODE": "4(x2),3",
                 "SLURM_NODEID": str(host), "MASTER_ADDR": "a"}
            )["LOCAL_WORLD_SIZE"], size)

    def test_ranks_of_several_hosts_use_an_interface_that_others_reach(self):
        several = {"WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2"}
        with unittest.mock.patch.object(
                environment.interface, "for_other_hosts",
                return_value="eth7") as find:
            self.assertEqual({"GLOO_SOCKET_IFNAME": "eth7"},
                             environment.of_network(several))
            self.assertEqual({"GLOO_SOCKET_IFNAME": "eth7"},
                             environment.of_network({"MASTER_ADDR": "host1"}))
            find.reset_mock()
            for said in ({**several, "GLOO_SOCKET_IFNAME": "eth1"},
                         {**several, "LOCAL_WORLD_SIZE": "4"},
                         {"MASTER_ADDR": "localhost"}, {}):
                self.assertEqual({}, environment.of_network(said))
            find.assert_not_called()

    def test_the_interface_may_be_described_in_the_variable(self):
        for given, names in (("127.0.0.0/8", "lo"), ("lo", None),
                             ("lo,127.0.0.1", "lo,lo")):
            self.assertEqual(names, environment.of_library(
                parse("a.py"), "/lib.so", {"GLOO_SOCKET_IFNAME": given}
            ).get("GLOO_SOCKET_IFNAME"))
        with self.assertRaisesRegex(
                UserError, "^GLOO_SOCKET_IFNAME=nosuch0: this host has no"):
            environment.of_library(parse("a.py"), "/lib.so",
                                   {"GLOO_SOCKET_IFNAME": "nosuch0"})

    def test_before_a_launcher_the_interface_is_for_several_hosts(self):
        with unittest.mock.patch.object(
                environment.interface, "for_other_hosts") as find:
            find.return_value = "eth7"
            self.assertEqual({"GLOO_SOCKET_IFNAME": "eth7"},
                             environment.of_unknown_network({}))
            self.assertEqual({}, environment.of_unknown_network(
                {"GLOO_SOCKET_IFNAME": "eth1"}))
            find.return_value = None
            self.assertEqual({}, environment.of_unknown_network({}))
            find.side_effect = UserError("no route")
            self.assertEqual({}, environment.of_unknown_network({}))

    def test_an_unknown_first_host_is_named_by_one_rank_of_each_host(self):
        unknown = {"MASTER_ADDR": "no-such-host.invalid", "LOCAL_RANK": "0"}
        self.assertIn("MASTER_ADDR=no-such-host.invalid",
                      environment.unknown_first_host(unknown))
        for said in ({**unknown, "LOCAL_RANK": "1"},
                     {"MASTER_ADDR": "127.0.0.1"}, {}):
            self.assertIsNone(environment.unknown_first_host(said))

    def test_variables_that_a_launcher_does_not_set_are_named(self):
        batch_script = {"SLURM_PROCID": "0", "SLURM_NTASKS": "4",
                        "SLURM_LOCALID": "0", "SLURM_TASKS_PER_NODE": "4"}
        several_hosts = {**LAUNCHED["MPICH"], "PMI_SIZE": "8"}
        for said, text in (({}, "--nproc-per-node"),
                           (batch_script, "--nproc-per-node"),
                           (several_hosts, "MPICH .* set MASTER_ADDR")):
            with self.subTest(said), self.assertRaisesRegex(UserError, text):
                environment.of_launcher(said)


class Mistakes(unittest.TestCase):
    """None of these mistakes causes an installation."""

    def error_of(self, *words):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertEqual(ubtrun.main(["--nproc-per-node", "1", *words]), 2)
        return said.getvalue()

    def test_each_names_culprit_and_remedy(self):
        for words, culprit, remedy in (
                (["/nowhere.py"], "'/nowhere.py'", "no script"),
                (["--python", "/nowhere/python", __file__],
                 "'/nowhere/python'", "--python PATH"),
                (["--python", "false", __file__], "false' has no PyTorch",
                 "pip install torch"),
                (["--report", "/nowhere", __file__], "'/nowhere'",
                 "make it first")):
            with self.subTest(words):
                said = self.error_of(*words)
                self.assertIn(culprit, said)
                self.assertIn(remedy, said)

    def test_variables_that_do_not_fit_this_host_are_named(self):
        for name, value, remedy in (
                ("GLOO_UBT_REPORT", "/nowhere", "make it first"),
                ("GLOO_UBT_METRICS", "/nowhere", "make it first"),
                ("GLOO_UBT_TRACE", "/nowhere", "make it first"),
                ("GLOO_UBT_PORTS", "4000", "3 ranks here needs one"),
                ("GLOO_UBT_PORTS", "4000-4001", "3 ranks here needs one")):
            with self.subTest(name), unittest.mock.patch.dict(
                    os.environ, {name: value}):
                said = self.error_of("--nproc-per-node", "3", __file__)
                self.assertIn(name, said)
                self.assertIn(value, said)
                self.assertIn(remedy, said)

    def test_enough_ports_and_other_forms_pass(self):
        for ports in ("", "4000-4002", "x", "5-4"):
            environment.check_ports(ports, 3)


class Ranks(unittest.TestCase):
    def run_ranks(self, code, count=3):
        """The exit code, and the message about it."""
        with contextlib.redirect_stderr(io.StringIO()) as said:
            result = ranks.run("run", [sys.executable, "-c", code], count,
                               os.environ)
        return result, said.getvalue()

    def test_each_knows_its_place(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.run_ranks(
                f"import os; e = os.environ; int(e['MASTER_PORT']); "
                f"open('{folder}/' + e['RANK'] + e['LOCAL_RANK'] + "
                "e['WORLD_SIZE'], 'w')"), (0, ""))
            self.assertEqual(sorted(os.listdir(folder)), ["003", "113", "223"])

    def test_one_that_fails_ends_all(self):
        began = time.monotonic()
        code, said = self.run_ranks(
            "import os, sys, time; sys.exit(7) if os.environ['RANK'] == '1'"
            " else time.sleep(600)")
        self.assertEqual(code, 7)
        self.assertIn("run: rank 1 ended with exit code 7", said)
        self.assertIn("the other ranks have been ended", said)
        self.assertLess(time.monotonic() - began, 300)

    def test_one_that_was_killed_is_blamed_for_the_others(self):
        code, said = self.run_ranks(
            "import os, signal, sys, time\n"
            "if os.environ['RANK'] == '1': os.kill(os.getpid(), 9)\n"
            "time.sleep(0.2); sys.exit(1)")
        self.assertEqual(code, 128 + signal.SIGKILL)
        self.assertIn("rank 1 was ended by SIGKILL", said)
        self.assertNotIn("rank 0", said)

    def test_processes_of_a_rank_end_with_it(self):
        with tempfile.TemporaryDirectory() as folder:
            code = ("import os, subprocess, sys, time\n"
                    "child = subprocess.Popen(['sleep', '600'])\n"
                    f"os.mkdir('{folder}/%d' % child.pid)\n"
                    f"os.mkdir('{folder}/%d' % os.getpid())\n"
                    "time.sleep(600)")
            job = subprocess.Popen(
                [sys.executable, "-c",
                 "import os, sys; from front_end import ranks; "
                 f"sys.exit(ranks.run('run', [sys.executable, '-c', {code!r}], 3, "
                 "os.environ))"],
                env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
                stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 60
            while len(os.listdir(folder)) < 6:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            job.send_signal(signal.SIGINT)
            self.assertEqual(job.wait(60), 128 + signal.SIGINT)
            self.assertEqual(list(filter(is_alive, os.listdir(folder))), [])


if __name__ == "__main__":
    junit_main.main()
