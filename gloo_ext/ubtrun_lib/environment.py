# SPDX-License-Identifier: Apache-2.0
"""What is set for the ranks."""
import argparse
import os
import shutil
import subprocess
from collections.abc import Mapping

# Where launchers say rank, size and local rank.
_LAUNCHERS = {
    "Slurm": ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"),
    "Open MPI": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                 "OMPI_COMM_WORLD_LOCAL_RANK"),
    "MPICH": ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
}
_PORT = "29500"  # torchrun's default


class LauncherError(Exception):
    """Something that is missing, and how to mend it."""


def of_library(options: argparse.Namespace, library: str,
               environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that make a process use the library."""
    before = environment.get("LD_PRELOAD")
    result = {"LD_PRELOAD": f"{library}:{before}" if before else library,
              "GLOO_ALGO": options.algo}
    for name, value in (("GLOO_UBT_REPAIR", options.repair),
                        ("GLOO_UBT_BOUND", options.bound),
                        ("GLOO_UBT_MIN_BYTES", options.min_bytes),
                        ("GLOO_UBT_REPORT", options.report and
                         os.path.abspath(options.report)),
                        ("GLOO_SOCKET_IFNAME", options.interface)):
        if value:
            result[name] = value
    return result


def of_launcher(environment: Mapping[str, str]) -> dict[str, str]:
    """PyTorch's variables, from what a launcher has set.

    Raises:
        LauncherError: no launcher has, or not where rank 0 is.
    """
    if "RANK" in environment and "WORLD_SIZE" in environment:
        return {}  # torchrun, or a user: all is said
    for launcher, (rank, size, local) in _LAUNCHERS.items():
        if rank in environment and size in environment:
            result = {"RANK": environment[rank],
                      "WORLD_SIZE": environment[size],
                      "LOCAL_RANK": environment.get(local, "0")}
            if "MASTER_ADDR" not in environment:
                result["MASTER_ADDR"] = _first_host(launcher, environment)
            if "MASTER_PORT" not in environment:
                result["MASTER_PORT"] = _PORT
            return result
    raise LauncherError(
        "no launcher has started this (RANK and WORLD_SIZE are not set): say "
        "--nproc-per-node N for local ranks, or start it with torchrun, srun "
        "or mpirun")


def _first_host(launcher: str, environment: Mapping[str, str]) -> str:
    nodes = environment.get("SLURM_JOB_NODELIST")
    if nodes and shutil.which("scontrol"):
        hosts = subprocess.run(
            ["scontrol", "show", "hostnames", nodes], capture_output=True,
            text=True, check=False).stdout.split()
        if hosts:
            return hosts[0]
    raise LauncherError(
        f"{launcher} does not say where rank 0 runs: set MASTER_ADDR to that "
        "host's name, the same for all ranks")
