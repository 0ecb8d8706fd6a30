# SPDX-License-Identifier: Apache-2.0
"""A Slurm with this host as its only node, for the duration of a test."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Dict

from front_end.children import end, with_parent
from front_end.local_ranks import free_port

DAEMONS = ("munged", "slurmctld", "slurmd")
_PATH = os.environ.get("PATH", "") + ":/usr/sbin"
_START_S = 60

_CONFIGURATION = """\
ClusterName=private
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=2
PartitionName=all Nodes={host} Default=YES
"""


def missing() -> str:
    """The programs that are not installed, or ""."""
    return ", ".join(name for name in (*DAEMONS, "srun")
                     if not shutil.which(name, path=_PATH))


class PrivateSlurm:
    """A context manager. The daemons are children of this process and end with
    it. Their files are in a folder of their own."""

    def __enter__(self) -> "PrivateSlurm":
        # Ignores TMPDIR, because a socket's path has to be short.
        self._folder = Path(tempfile.mkdtemp(dir="/tmp", prefix="slurm-"))
        self._daemons: list = []
        try:
            self._start_all()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        end(self._daemons)
        shutil.rmtree(self._folder, ignore_errors=True)

    def environment(self) -> Dict[str, str]:
        """The variables that lead clients to this Slurm."""
        return {"SLURM_CONF": str(self._folder / "slurm.conf")}

    def _start_all(self) -> None:
        for name in ("state", "spool"):
            (self._folder / name).mkdir()
        key = self._folder / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        configuration = self._folder / "slurm.conf"
        configuration.write_text(_CONFIGURATION.format(
            folder=self._folder, host=socket.gethostname().split(".")[0],
            user=pwd.getpwuid(os.getuid()).pw_name,
            controller_port=free_port(), node_port=free_port()))
        self._start(
            "munged", "--foreground", "--force", f"--key-file={key}",
            *(f"--{what}-file={self._folder}/munge.{what}"
              for what in ("pid", "log", "seed")),
            f"--socket={self._folder}/munge")
        self._wait_for(lambda: (self._folder / "munge").exists())
        self._start("slurmctld", "-D", "-c", "-f", str(configuration))
        self._start("slurmd", "-D", "-c", "-f", str(configuration))
        self._wait_for(lambda: "idle" in subprocess.run(
            ["sinfo", "--noheader", "--format=%T"], text=True, check=False,
            env={**os.environ, **self.environment()}, capture_output=True,
            timeout=_START_S).stdout)

    def _start(self, name: str, *arguments: str) -> None:
        with open(self._folder / "log", "ab") as log:
            self._daemons.append(subprocess.Popen(
                with_parent([shutil.which(name, path=_PATH) or name,
                             *arguments]),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, **self.environment()},
                start_new_session=True))

    def _wait_for(self, is_there) -> None:
        deadline = time.monotonic() + _START_S
        while not is_there():
            if time.monotonic() > deadline or any(
                    daemon.poll() is not None for daemon in self._daemons):
                raise AssertionError(
                    "the private Slurm does not start:\n"
                    + (self._folder / "log").read_text(errors="replace"))
            time.sleep(0.1)
