# SPDX-License-Identifier: Apache-2.0
"""Environment variables for the ranks."""
from __future__ import annotations

import argparse
import dataclasses
import os
import re
import shutil
import socket
import subprocess
import zlib
from collections.abc import Mapping

from . import interface, preload
from .errors import EXIT_USAGE, UserError
from .program import Program

INTERFACE = "GLOO_SOCKET_IFNAME"
_LOOPBACK = "127.0.0.1"
_NO_LAUNCHER = ("no launcher has started this: neither RANK and WORLD_SIZE "
                "are set, nor the variables of srun or mpirun")


@dataclasses.dataclass(frozen=True)
class _Launcher:
    """The variables that tell a rank its place, as a launcher sets them."""

    name: str
    rank: str
    size: str
    local_rank: str
    local_size: str  # Slurm: one number for each host
    job: tuple[str, ...] = ()  # differ between jobs, equal within one


# Slurm comes last: under mpirun its variables exist, too, but describe another
# thing. The SLURM_STEP_ variables exist only under srun, not in a batch
# script.
_LAUNCHERS = (
    _Launcher("Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
              "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE",
              ("PMIX_NAMESPACE",)),
    _Launcher("MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID",
              "MPI_LOCALNRANKS"),
    _Launcher("Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS",
              "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE",
              ("SLURM_JOB_ID", "SLURM_STEP_ID")),
)


def of_library(options: argparse.Namespace, library: str,
               environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that make a process use the library."""
    result = preload.variables(library, options.algo,
                               environment.get("LD_PRELOAD", ""))
    for name, value in (("GLOO_UBT_REPAIR", options.repair),
                        ("GLOO_UBT_BOUND", options.bound),
                        ("GLOO_UBT_MIN_BYTES", options.min_bytes),
                        ("GLOO_UBT_BOUNDED", options.bounded),
                        ("GLOO_UBT_REPORT", options.report and
                         os.path.abspath(options.report)),
                        (INTERFACE, _interface(options, environment))):
        if value:
            result[name] = value
    return result


def _interface(options: argparse.Namespace,
               environment: Mapping[str, str]) -> str | None:
    """The names that ranks need in INTERFACE, because Gloo knows only names.
    None: what `environment` has serves them."""
    if options.interface:
        return interface.named(options.interface)
    given = environment.get(INTERFACE)
    if not given:
        return None
    names = interface.named(given, f"{INTERFACE}=")
    return names if names != given else None


def of_startup(program: Program,
               environment: Mapping[str, str]) -> dict[str, str]:
    """The variable with which ranks run the program's start-up code, if they
    need it. `environment`: of the rank."""
    if environment.get("GLOO_UBT_BOUNDED") != "ddp":
        return {}
    folders = [program.startup, *program.packages]
    others = [path for path in environment.get("PYTHONPATH", "").split(":")
              if path not in ("", *folders)]
    return {"PYTHONPATH": ":".join([*folders, *others])}


def check_ports(ports: str, ranks: int) -> None:
    """Raises UserError if GLOO_UBT_PORTS has too few for this host's ranks.
    The library checks the form."""
    limits = re.fullmatch(r"(\d+)-(\d+)|(\d+)", ports)
    if limits is None:
        return
    low, high, single = (int(limit or 0) for limit in limits.groups())
    count = 1 if single else high - low + 1
    if 0 < count < ranks:
        raise UserError(
            f"GLOO_UBT_PORTS={ports} has too few ports ({count}): each of the "
            f"{ranks} ranks here needs one", EXIT_USAGE)


def of_network(environment: Mapping[str, str]) -> dict[str, str]:
    """The interface, if this rank is one of several hosts', nobody has named
    one, and the host's name does not tell. `environment`: of the rank.

    Raises UserError if it is unknown.
    """
    return (_for_other_hosts(environment) if _has_other_hosts(environment)
            else {})


def of_unknown_network(environment: Mapping[str, str]) -> dict[str, str]:
    """The same before a launcher has told whether there are other hosts. Empty
    if the interface is unknown, too: one host needs none."""
    try:
        return _for_other_hosts(environment)
    except UserError:
        return {}


def _for_other_hosts(environment: Mapping[str, str]) -> dict[str, str]:
    if environment.get(INTERFACE):
        return {}
    name = interface.for_other_hosts()
    return {} if name is None else {INTERFACE: name}


def _has_other_hosts(environment: Mapping[str, str]) -> bool:
    if "LOCAL_WORLD_SIZE" in environment:
        return environment["LOCAL_WORLD_SIZE"] != environment["WORLD_SIZE"]
    return not is_this_host(environment.get("MASTER_ADDR", _LOOPBACK))


def unknown_first_host(environment: Mapping[str, str]) -> str | None:
    """A warning if this host cannot resolve MASTER_ADDR: PyTorch would try
    for minutes. None: it can, or another local rank warns. In a cluster that
    starts, the name may become known later, so this is no error."""
    host = environment.get("MASTER_ADDR", _LOOPBACK)
    if environment.get("LOCAL_RANK", "0") != "0":
        return None
    try:
        socket.getaddrinfo(host, None)
    except OSError as error:
        return (f"this host cannot resolve MASTER_ADDR={host} "
                f"({error.strerror}). Set MASTER_ADDR to an address of rank "
                "0's host, or make the name known here (/etc/hosts)")
    return None


def is_this_host(name: str) -> bool:
    """Whether it is a name or an address of loopback."""
    return name in ("localhost", "::1") or name.startswith("127.")


def of_launcher(environment: Mapping[str, str]) -> dict[str, str]:
    """PyTorch's variables, translated from those of a launcher.

    Raises:
        UserError: no launcher set any, or the host of rank 0 is unknown.
    """
    if _all_said(environment):
        return {}
    launcher = _launcher(environment)
    if launcher is None:
        raise UserError(
            f"{_NO_LAUNCHER}. Say, before the script, --nproc-per-node N for "
            "local ranks, or start it with a launcher (--help)", EXIT_USAGE)
    return _translated(launcher, environment)


def place(environment: Mapping[str, str]) -> tuple[int, int]:
    """This process's rank, and the number of ranks, as a launcher set them.

    Raises:
        UserError: no launcher set any, or a variable is no number.
    """
    names = ("RANK", "WORLD_SIZE")
    if not _all_said(environment):
        launcher = _launcher(environment)
        if launcher is None:
            raise UserError(f"{_NO_LAUNCHER}. Say --rank and --size, too",
                            EXIT_USAGE)
        names = (launcher.rank, launcher.size)
    for name in names:
        if not environment[name].isdecimal():
            raise UserError(f"{name}={environment[name]} is no number; a "
                            "launcher sets it", EXIT_USAGE)
    return int(environment[names[0]]), int(environment[names[1]])


def _all_said(environment: Mapping[str, str]) -> bool:
    """Whether torchrun, or a user, set PyTorch's own variables."""
    return "RANK" in environment and "WORLD_SIZE" in environment


def _launcher(environment: Mapping[str, str]) -> _Launcher | None:
    for launcher in _LAUNCHERS:
        if {launcher.rank, launcher.size, launcher.local_rank,
                launcher.local_size} <= environment.keys():
            return launcher
    return None


def _translated(launcher: _Launcher,
                environment: Mapping[str, str]) -> dict[str, str]:
    size = environment[launcher.size]
    local_size = _of_this_host(environment[launcher.local_size],
                               int(environment.get("SLURM_NODEID", 0)))
    result = {"RANK": environment[launcher.rank], "WORLD_SIZE": size,
              "LOCAL_RANK": environment[launcher.local_rank],
              "LOCAL_WORLD_SIZE": local_size}
    if "MASTER_ADDR" not in environment:
        result["MASTER_ADDR"] = (
            _LOOPBACK if local_size == size
            else _first_host(launcher.name, environment))
    if "MASTER_PORT" not in environment:
        job = [environment.get(name, "") for name in launcher.job]
        if not job and local_size == size:  # children of one launcher process
            job = [str(os.getppid())]
        result["MASTER_PORT"] = str(_port(".".join(job)))
    return result


def _of_this_host(sizes: str, host: int) -> str:
    """`host`'s number in Slurm's list: in "4(x2),3" hosts 0 and 1 have 4."""
    expanded: list[str] = []
    for size, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", sizes):
        expanded += [size] * int(times or 1)
    return expanded[host] if len(expanded) > 1 else expanded[0]


def _port(job: str) -> int:
    """A port that is equal on all ranks and probably differs from other jobs'
    on this host. It is below the range of ephemeral ports."""
    return 20000 + zlib.crc32(job.encode()) % 10000


def _first_host(launcher: str, environment: Mapping[str, str]) -> str:
    hosts = environment.get("SLURM_STEP_NODELIST")
    if launcher == "Slurm" and hosts and shutil.which("scontrol"):
        names = subprocess.run(
            ["scontrol", "show", "hostnames", hosts], capture_output=True,
            text=True, check=False).stdout.split()
        if names:
            return names[0]
    raise UserError(
        f"{launcher} does not say where rank 0 runs: set MASTER_ADDR to that "
        "host's name, the same for all ranks", EXIT_USAGE)
