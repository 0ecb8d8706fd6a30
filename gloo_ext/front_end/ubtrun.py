# SPDX-License-Identifier: Apache-2.0
"""The command ubtrun: checks the request, builds the library, runs the
script."""
import argparse
import contextlib
import fcntl
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence

from . import arguments, bazel, environment, preload, ranks
from .errors import EXIT_USAGE, UserError

_SOURCES = ("gloo_ext", "algorithms", "transport_ubt")
_HAS_TORCH = """\
import importlib.util, sys
sys.exit(importlib.util.find_spec("torch") is None)
"""


def check(options: argparse.Namespace) -> None:
    """Raises UserError early for errors that would otherwise appear only after
    an installation."""
    if options.report and not os.path.isdir(options.report):
        raise UserError(f"--report: there is no folder '{options.report}'; "
                        "make it first", EXIT_USAGE)
    preload.check(bazel.output(preload.LIBRARY))
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
        raise UserError(
            f"'{python}' has no PyTorch; name with --python PATH one that has, "
            "for example of a virtual environment after pip install torch, or "
            "/usr/bin/python3 after third_party/install "
            "third_party/torch_packages.txt", EXIT_USAGE)


def _is_old(path: str) -> bool:
    if not os.path.exists(path):
        return True
    sources = (os.path.join(folder, name) for part in _SOURCES
               for folder, _, names in os.walk(os.path.join(bazel.ROOT, part))
               for name in names if name.endswith((".cc", ".h")))
    built = os.path.getmtime(path)
    return any(os.path.getmtime(source) > built for source in sources)


def library() -> str:
    """The library's path. Builds it if it is missing or older than its
    source."""
    path = bazel.output(preload.LIBRARY)
    if not _is_old(path):
        return path
    installer = os.path.join(bazel.ROOT, "third_party", "install")
    # A launcher's ranks come here together: one builds, the others wait.
    with open(installer, "rb") as lock:
        with contextlib.suppress(OSError):  # not every NFS supports it
            fcntl.flock(lock, fcntl.LOCK_EX)
        if _is_old(path):
            if subprocess.run([installer], stdout=sys.stderr,
                              check=False).returncode:
                raise UserError("third_party/install failed; see above")
            bazel.build(preload.LIBRARY)
    return path


def run(options: argparse.Namespace) -> int:
    check(options)
    launched = ({} if options.nproc_per_node or options.print_env
                else environment.of_launcher(os.environ))
    variables = environment.of_library(options, library(), os.environ)
    if options.print_env:
        for name, value in variables.items():
            print(f"export {name}={shlex.quote(value)}")
        return 0
    full = {**os.environ, **launched, **variables}
    command = [shutil.which(options.python), options.script,
               *options.arguments]
    if options.nproc_per_node:
        return ranks.run(command, options.nproc_per_node, full)
    os.execve(command[0], command, full)


def main(argv: Sequence[str]) -> int:
    try:
        return run(arguments.parse(argv))
    except UserError as error:
        print(f"ubtrun: error: {error}", file=sys.stderr)
        return error.exit_code
