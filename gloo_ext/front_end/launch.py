# SPDX-License-Identifier: Apache-2.0
"""Checks a request, and runs the script."""
from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence

from . import arguments, environment, preload, ranks
from .errors import EXIT_USAGE, UserError
from .program import Program

# Variables that name a folder. The library only warns if it is not there.
_FOLDERS = ("GLOO_UBT_REPORT", "GLOO_UBT_METRICS", "GLOO_UBT_TRACE")

_HAS_TORCH = """\
import importlib.util, sys
sys.exit(importlib.util.find_spec("torch") is None)
"""


# Prints what is wrong with the settings. Fails without the library.
_WRONG_SETTINGS = """\
try:
    import ctypes
except ImportError:
    raise SystemExit(0)  # a Python without it may still run the ranks
text = ctypes.create_string_buffer(1 << 16)
ask = ctypes.CDLL(None).gloo_ubt_wrong_settings
ask.restype = ctypes.c_size_t
ask(text, ctypes.c_size_t(len(text)))
print(text.value.decode(errors="replace"), end="")
"""


def _check_library(program: Program, python: str,
                   environment: Mapping[str, str]) -> None:
    """Raises UserError if ranks could not load the library, and for a setting
    that each of them would refuse."""
    done = subprocess.run(
        [python, "-c", _WRONG_SETTINGS], env=environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    if done.returncode:
        why = next((line.rstrip(".") for line in done.stderr.splitlines()
                    if program.path in line), "LD_PRELOAD does not reach it")
        raise UserError(f"'{python}' cannot load {program.path}: {why}. "
                        f"{program.no_library}", EXIT_USAGE)
    if done.stdout:
        raise UserError(done.stdout, EXIT_USAGE)


def _check(program: Program, options: argparse.Namespace) -> None:
    """Raises UserError early for errors that would otherwise appear only after
    an installation."""
    for name, folder in (("--report", options.report), *(
            (name, os.environ.get(name)) for name in _FOLDERS)):
        if folder and not os.path.isdir(folder):
            raise UserError(f"{name}: there is no folder '{folder}'; make it "
                            "first", EXIT_USAGE)
    environment.check_ports(os.environ.get("GLOO_UBT_PORTS", ""),
                            options.nproc_per_node or 1)
    preload.check(program.path, program.no_path)
    if options.print_env:
        return
    if not os.path.exists(options.script):
        raise UserError(f"there is no script '{options.script}'", EXIT_USAGE)
    python = shutil.which(options.python)
    if python is None:
        raise UserError(f"there is no Python '{options.python}'; name one with "
                        "--python PATH", EXIT_USAGE)
    if subprocess.run([python, "-c", _HAS_TORCH], stdin=subprocess.DEVNULL,
                      check=False).returncode:
        raise UserError(f"'{python}' has no PyTorch; {program.no_torch}",
                        EXIT_USAGE)


def _run(program: Program, options: argparse.Namespace) -> int:
    _check(program, options)
    launched = ({} if options.nproc_per_node or options.print_env
                else environment.of_launcher(os.environ))
    variables = environment.of_library(options, program.library(), os.environ)
    variables |= environment.of_startup(program, {**os.environ, **variables})
    if options.print_env:
        full = {**os.environ, **variables}
        variables |= environment.of_unknown_network(full)
        _check_library(program, shutil.which(options.python) or sys.executable,
                       full)
        for name, value in variables.items():
            print(f"export {name}={shlex.quote(value)}")
        return 0
    full = {**os.environ, **launched, **variables}
    if not options.nproc_per_node:
        full |= environment.of_network(full)
        warning = environment.unknown_first_host(full)
        if warning is not None:
            print(f"{program.name}: warning: {warning}", file=sys.stderr)
    command = [shutil.which(options.python), options.script,
               *options.arguments]
    _check_library(program, command[0], full)
    if options.nproc_per_node:
        return ranks.run(program.name, command, options.nproc_per_node, full)
    os.execve(command[0], command, full)


def main(program: Program, argv: Sequence[str]) -> int:
    """Returns the exit code. Does not return if this process becomes a
    rank."""
    try:
        return _run(program, arguments.parse(program, argv))
    except UserError as error:
        print(f"{program.name}: error: {error}", file=sys.stderr)
        return error.exit_code
