# SPDX-License-Identifier: Apache-2.0
"""gloo_ext/ubtrun for real: with local ranks, and under launchers. Needs
PyPI's PyTorch, because its torchrun works. Visibly skipped without it; see
BUILD.bazel."""

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import namespaces_or_skip
from tests import junit_main
from tests.gloo_ext import private_slurm
from tests.gloo_ext.ranks import HERE, LIBRARY, PATIENT, is_alive

# third_party/install_torch's folder; tests have no HOME.
_HOME = pwd.getpwuid(os.getuid()).pw_dir
_WHEEL = Path(_HOME, ".cache/gloo_ubt/torch-2.13.0/bin")
PYTHON = str(_WHEEL / "python")
TORCHRUN = str(_WHEEL / "torchrun")
ROOT = HERE.parent.parent
_LIMIT_S = 120

# Each host of the lab runs this, with the ranks' command as arguments. $ROUTE
# is empty for a host without a default route. The host's name resolves to
# $ADDRESSES. The script adds the last number to one that ends with a dot.
_HOST = """\
set -e
[ -z "$ROUTE" ] || ip route add default dev eth0
hostname "host$RANK"
{
  echo 127.0.0.1 localhost
  for address in $ADDRESSES; do
    case $address in *.) address=$address$((RANK + 1)) ;; esac
    echo "$address host$RANK"
  done
} > "$TMPDIR/hosts$RANK"
mount --bind "$TMPDIR/hosts$RANK" /etc/hosts
unset GLOO_SOCKET_IFNAME
exec "$@"
"""


def clone(folder):
    """Copies the parts that ubtrun needs, built, into `folder`. Returns
    ubtrun."""
    shutil.copytree(ROOT / "gloo_ext/front_end", folder / "gloo_ext/front_end")
    shutil.copy(ROOT / "gloo_ext/ubtrun", folder / "gloo_ext")
    (folder / "bazel-bin/gloo_ext").mkdir(parents=True)
    shutil.copy(LIBRARY, folder / "bazel-bin/gloo_ext")
    return str(folder / "gloo_ext/ubtrun")


def is_free(port):
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            again.bind(("", port))
            again.listen()
        except OSError:
            return False
    return True


class UbtrunTest(unittest.TestCase):
    def setUp(self):
        if not os.path.exists(PYTHON):
            self.skipTest(f"no '{PYTHON}': third_party/install_torch")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.ubtrun = clone(self.folder / "clone")
        self.environment = {
            **os.environ, **PATIENT, "HOME": _HOME, "TMPDIR": folder.name,
            "PYTHONPATH": str(ROOT / "gloo_ext/python")}

    def start(self, command, environment=None):
        """Starts a process group, like a terminal's foreground group."""
        self.log = self.folder / "log"
        with open(self.log, "w") as log:
            process = subprocess.Popen(
                command, env=environment or self.environment, stdout=log,
                stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def said(self):
        return self.log.read_text(errors="replace")

    def script(self, name):
        return str(HERE / "scripts" / name)

    def one_of_many(self, *options):
        return [self.ubtrun, "--python", PYTHON, *options,
                self.script("place.py")]

    def check_ranks(self, command, environment=None, hosts=1):
        """Checks two ranks with their places in a job, and bounded sums."""
        code = self.start(command, environment).wait(_LIMIT_S)
        self.assertEqual(code, 0, self.said())
        said = [json.loads(line[line.index("{"):])
                for line in self.said().splitlines() if '"rank"' in line]
        self.assertEqual(
            sorted(said, key=lambda one: one["rank"]),
            [{"rank": rank, "size": 2, "local_rank": rank % (2 // hosts),
              "local_size": 2 // hosts, "bounded": 5}
             for rank in range(2)], self.said())


@unittest.skipIf(namespaces_or_skip.why_not(), namespaces_or_skip.why_not())
class TwoHosts(UbtrunTest):
    """In the lab, and set up as distributions and clusters do it."""

    def command(self, addresses, route="yes"):
        self.environment.update(ADDRESSES=addresses, ROUTE=route)
        script = self.folder / "host.sh"
        script.write_text(_HOST)
        return [ROOT / "benchmark/lab", "--hosts", "2", "--", "unshare",
                "--mount", "--uts", "sh", str(script), *self.one_of_many()]

    def test_meet_whatever_their_names_mean(self):
        for addresses in "127.0.1.1", "127.0.1.1 10.77.0.", "10.77.0.", "":
            with self.subTest(addresses):
                self.check_ranks(self.command(addresses), hosts=2)

    def test_without_a_route_the_remedy_is_named(self):
        process = self.start(self.command("127.0.1.1", route=""))
        self.assertNotEqual(0, process.wait(_LIMIT_S))
        self.assertRegex(self.said(), "this host's name, host[01], resolves to "
                         "127.0.1.1, .*--interface")


class Launchers(UbtrunTest):
    def launcher(self, name):
        if not shutil.which(name):
            self.skipTest(f"no {name}: third_party/install "
                          "third_party/launcher_packages.txt")
        return name

    def test_none(self):
        self.check_ranks(self.one_of_many("--nproc-per-node", "2"))

    def test_torchrun(self):
        self.check_ranks([
            TORCHRUN, "--standalone", "--nproc-per-node", "2", "--no-python",
            *self.one_of_many()])

    def test_torchrun_starts_it_again(self):
        # Once ranks have met, plain Gloo of PyTorch 2.13 does not meet again.
        script = self.folder / "again.py"
        script.write_text(
            "import os, sys\n"
            "if os.environ['TORCHELASTIC_RESTART_COUNT'] == '0':\n"
            "    os._exit(1)\n"
            f"sys.path.insert(0, {str(HERE / 'scripts')!r})\n"
            f"exec(open({self.script('place.py')!r}).read())\n")
        self.check_ranks([
            TORCHRUN, "--standalone", "--nproc-per-node", "2",
            "--max-restarts", "1", "--no-python",
            *self.one_of_many()[:-1], str(script)])

    def test_torchrun_by_hand(self):
        reports = self.folder / "reports"
        reports.mkdir()
        printed = subprocess.run(
            [self.ubtrun, "--print-env", "--report", str(reports)],
            check=True, stdout=subprocess.PIPE, text=True).stdout
        self.check_ranks(
            ["bash", "-c", f'{printed}exec "$@"', "-", TORCHRUN,
             "--standalone", "--nproc-per-node", "2",
             self.script("place.py")])
        # torchrun's own process also has the library, which does nothing.
        self.assertEqual(
            sorted(path.name for path in reports.iterdir()),
            ["rank0.jsonl", "rank0.prom", "rank1.jsonl", "rank1.prom"])

    def test_open_mpi(self):
        self.check_ranks([
            self.launcher("mpirun.openmpi"), "--allow-run-as-root",
            "--oversubscribe", "-n", "2", *self.one_of_many()])

    def test_mpich(self):
        self.check_ranks([
            self.launcher("mpirun.mpich"), "-n", "2", *self.one_of_many()])

    def test_slurm(self):
        missing = private_slurm.missing()
        if missing:
            self.skipTest(f"no {missing}: apt-get install slurm-wlm munge")
        with private_slurm.PrivateSlurm() as slurm:
            self.environment.update(slurm.environment())
            self.check_ranks(["srun", "--ntasks", "2", *self.one_of_many()])
            # A batch script has such variables, too, but starts no ranks.
            script = self.folder / "batch"
            script.write_text("#!/bin/bash\n" + " ".join(self.one_of_many()))
            job = self.start(["sbatch", "--wait", "--ntasks", "2",
                              f"--output={self.folder}/batch.out", script])
            self.assertNotEqual(job.wait(_LIMIT_S), 0)
            self.assertIn("no launcher has started this",
                          (self.folder / "batch.out").read_text())


class Ends(UbtrunTest):
    """However ubtrun ends, no process and no port remains."""

    def setUp(self):
        super().setUp()
        self.job = self.start(
            [self.ubtrun, "--nproc-per-node", "3", "--python", PYTHON,
             self.script("endless.py")])
        deadline = time.monotonic() + _LIMIT_S
        while self.said().count("going") < 3:
            self.assertIsNone(self.job.poll(), self.said())
            self.assertLess(time.monotonic(), deadline, self.said())
            time.sleep(0.05)
        children = f"/proc/{self.job.pid}/task/{self.job.pid}/children"
        self.ranks = [int(pid) for pid in Path(children).read_text().split()]
        self.assertEqual(len(self.ranks), 3)

    def variable(self, pid, name):
        for word in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            if word.startswith(name.encode() + b"="):
                return word.decode().partition("=")[2]
        raise AssertionError(f"no {name}")

    def check_all_end(self, code, signal_it):
        port = int(self.variable(self.ranks[0], "MASTER_PORT"))
        signal_it()
        self.assertEqual(self.job.wait(30), code, self.said())
        # A killed ubtrun does not wait for its ranks.
        deadline = time.monotonic() + 30
        while (code == -signal.SIGKILL and time.monotonic() < deadline
               and not (self.all_have_ended() and is_free(port))):
            time.sleep(0.05)
        self.assertTrue(self.all_have_ended())
        self.assertTrue(is_free(port))

    def all_have_ended(self):
        return not any(map(is_alive, self.ranks))

    def test_interrupt_alone(self):
        self.check_all_end(130, lambda: self.job.send_signal(signal.SIGINT))

    def test_interrupt_in_a_terminal(self):
        self.check_all_end(
            130, lambda: os.killpg(self.job.pid, signal.SIGINT))

    def test_terminate(self):
        self.check_all_end(143, self.job.terminate)

    def test_kill(self):
        self.check_all_end(-signal.SIGKILL, self.job.kill)

    def test_a_rank_that_dies(self):
        # A rank: a child of ubtrun, which has not waited for it.
        rank = self.variable(self.ranks[1], "RANK")
        self.check_all_end(
            137, lambda: os.kill(self.ranks[1], signal.SIGKILL))
        self.assertIn(f"ubtrun: rank {rank} was ended by SIGKILL", self.said())


if __name__ == "__main__":
    junit_main.main()
