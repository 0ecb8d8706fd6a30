# SPDX-License-Identifier: Apache-2.0
"""Builds what a command starts."""
import os
import subprocess
import sys

from .errors import UserError

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))

LAB_HOST = "LAB_HOST"  # set where benchmark/lab runs a command: its host


def output(target: str) -> str:
    """The path of `target`, "//folder:name", built or not."""
    folder, name = target.removeprefix("//").split(":")
    return os.path.join(ROOT, "bazel-bin", folder, name)


def build(target: str) -> str:
    """Returns the path of `target`, "//folder:name", up to date."""
    if LAB_HOST in os.environ:
        # Bazel would look there for the server that it has outside.
        if not os.path.exists(output(target)):
            raise UserError(f"cannot build in a lab; run bazel build {target} "
                            "before")
        return output(target)
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
