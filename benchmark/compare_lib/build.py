# SPDX-License-Identifier: Apache-2.0
"""Builds the worker."""
import os
import subprocess
import sys

from .errors import CompareError

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
_TARGET = "//benchmark/comparison:worker"


def build_worker():
    """Returns the path of an up-to-date worker."""
    print("Building (the first time takes a minute) ...",
          end="\r" if sys.stderr.isatty() else "\n", file=sys.stderr,
          flush=True)
    try:
        result = subprocess.run(
            ["bazel", "build", "-c", "opt", _TARGET], cwd=_ROOT,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", check=False)
    except FileNotFoundError as error:
        raise CompareError(
            "cannot find bazel; run third_party/install") from error
    if result.returncode != 0:
        raise CompareError(
            f"{result.stdout[-4000:]}\nbazel build {_TARGET} failed, see "
            "above")
    return os.path.join(_ROOT, "bazel-bin", "benchmark", "comparison", "worker")
