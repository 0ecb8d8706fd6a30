# SPDX-License-Identifier: Apache-2.0
"""The library inside an installed wheel, and the command that runs scripts
over it."""

from __future__ import annotations

import os
import sys
from typing import Any, List, Sequence

_HERE = os.path.dirname(os.path.abspath(__file__))
_LIBRARY = os.path.join(_HERE, "libgloo_ubt.so")
_ONLY_SOURCE = ("this gloo_ubt was installed without its library: install the "
                "wheel (third_party/wheel builds it), or use gloo_ext/ubtrun")
_NOTE = """\
The script runs in the Python that has gloo_ubt; --python names another one."""
_NO_PATH = ("install gloo_ubt into a virtual environment whose path has "
            "neither")
_NO_TORCH = ("install one beside gloo_ubt (pip install torch), or name with "
             "--python PATH one that has")
_NO_LIBRARY = ("It needs x86-64 and glibc 2.34 or newer, as in Ubuntu 22.04 "
               "and RHEL 9")


def preload_path() -> str:
    """The path of the library, for LD_PRELOAD.

    Raises:
        RuntimeError: the package was installed without the library.
    """
    if not os.path.exists(_LIBRARY):
        raise RuntimeError(_ONLY_SOURCE)
    return _LIBRARY


def run(argv: Sequence[str]) -> int:
    """Runs a script over the library, as --help says. Returns the exit
    code."""
    try:
        preload_path()
    except RuntimeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    from gloo_ubt.front_end import launch  # the wheel has it

    return launch.main(_program(), argv)


def options() -> List[str]:
    """The options of run()."""
    from gloo_ubt.front_end import arguments

    return arguments.names_of(arguments.parser(_program()))


def _program() -> Any:
    from gloo_ubt.front_end import program

    return program.Program("python -m gloo_ubt run", sys.executable, _NOTE,
                           _LIBRARY, preload_path, (),
                           os.path.join(_HERE, "startup"), _NO_PATH, _NO_TORCH,
                           _NO_LIBRARY)


def env(argv: Sequence[str]) -> int:
    """Prints the variables that run() would set. Returns the exit code."""
    return run(["--print-env", *argv])
