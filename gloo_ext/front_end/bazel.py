# SPDX-License-Identifier: Apache-2.0
"""Builds the programs that a command starts."""
import os
import subprocess
import sys

from .children import end
from .errors import UserError
from .local_ranks import LAB_HOST

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))

LIBRARY = "//gloo_ext:libgloo_ubt.so"
NO_PATH = "move this folder elsewhere"  # if LIBRARY cannot be preloaded
_CANCEL_S = 10.0


def output(target: str) -> str:
    """The path of `target`, "//folder:name", whether or not it is built."""
    folder, name = target.removeprefix("//").split(":")
    return os.path.join(ROOT, "bazel-bin", folder, name)


def build(target: str) -> str:
    """Builds `target`, "//folder:name", if necessary. Returns its path."""
    if LAB_HOST in os.environ:
        # Bazel cannot reach its server from inside a lab.
        if not os.path.exists(output(target)):
            raise UserError(f"cannot build in a lab; run bazel build {target} "
                            "before")
        return output(target)
    command = ["bazel", "build", "-c", "opt", target]
    if _run([*command, "--check_up_to_date"])[0]:
        print("Building (the first time takes a minute) ...", file=sys.stderr,
              flush=True)
        code, text = _run(command)
        if code:
            raise UserError(f"{text[-4000:]}\nbazel build {target} failed, "
                            "see above")
        print("Built. Bazel's server stays for the next build; bazel shutdown "
              "ends it.", file=sys.stderr)
    return output(target)


def _run(command: list[str]) -> tuple[int, str]:
    """The exit code and the output of Bazel."""
    try:
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace",
            start_new_session=True)
    except FileNotFoundError as error:
        raise UserError("cannot find bazel; run third_party/install") from error
    with process:
        try:
            text, _ = process.communicate()
        except BaseException:
            # Bazel's server goes on building if its client is killed at once.
            end([process], grace_s=_CANCEL_S)
            raise
    return process.returncode, text
