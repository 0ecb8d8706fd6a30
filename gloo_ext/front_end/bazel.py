# SPDX-License-Identifier: Apache-2.0
"""Builds what a command starts."""
import os
import subprocess
import sys

from .errors import UserError

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


def output(target: str) -> str:
    """The path of `target`, "//folder:name", built or not."""
    folder, name = target.removeprefix("//").split(":")
    return os.path.join(ROOT, "bazel-bin", folder, name)


def build(target: str) -> str:
    """Returns the path of `target`, "//folder:name", up to date."""
    print("Building (the first time takes a minute) ...",
          end="\r" if sys.stderr.isatty() else "\n", file=sys.stderr,
          flush=True)
    try:
        result = subprocess.run(
            ["bazel", "build", "-c", "opt", target], cwd=ROOT,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", check=False)
    except FileNotFoundError as error:
        raise UserError("cannot find bazel; run third_party/install") from error
    if result.returncode != 0:
        raise UserError(f"{result.stdout[-4000:]}\nbazel build {target} "
                        "failed, see above")
    return output(target)
