# SPDX-License-Identifier: Apache-2.0
"""The command ubtrun: builds the library of this source tree, and runs a
script over it."""
import contextlib
import fcntl
import os
import subprocess
import sys
from collections.abc import Sequence

from . import bazel, launch
from .errors import UserError
from .program import Program

_SOURCES = ("gloo_ext", "algorithms", "transport_ubt")
_PACKAGES = os.path.join(bazel.ROOT, "gloo_ext", "python")
_NOTE = """\
Where python3 is not the one with torch, say --python. The library is built on
first use, with Debian's packages; before ranks start on many hosts that share
this folder, do so once with --print-env."""
_NO_TORCH = """\
name with --python PATH one that has, for example of a virtual environment \
after pip install torch, or /usr/bin/python3 after third_party/install \
third_party/torch_packages.txt"""
_NO_LIBRARY = "Name with --python PATH one of this host's own architecture"


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
    path = bazel.output(bazel.LIBRARY)
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
            bazel.build(bazel.LIBRARY)
    return path


PROGRAM = Program("gloo_ext/ubtrun", "python3", _NOTE,
                  bazel.output(bazel.LIBRARY), library, (_PACKAGES,),
                  os.path.join(_PACKAGES, "gloo_ubt", "startup"),
                  bazel.NO_PATH, _NO_TORCH, _NO_LIBRARY)


def main(argv: Sequence[str]) -> int:
    """Returns the exit code."""
    return launch.main(PROGRAM, argv)
