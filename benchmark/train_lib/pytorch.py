# SPDX-License-Identifier: Apache-2.0
"""The Python that trains."""
import os
import subprocess

from front_end.errors import EXIT_USAGE, UserError

DEBIANS = "/usr/bin/python3"

_PROBE = """\
import torch, torch.distributed
print(torch.__version__ if torch.distributed.is_available()
      and hasattr(torch.distributed, "ProcessGroupGloo") else "")
"""


def environment() -> dict[str, str]:
    """This process's environment without its own module path."""
    return {name: value for name, value in os.environ.items()
            if name != "PYTHONPATH"}


def version(python: str) -> str:
    """The version of `python`'s PyTorch. Raises UserError if it has none."""
    try:
        done = subprocess.run(
            [python, "-c", _PROBE], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment(), check=False)
    except OSError as error:
        raise UserError(f"--python: cannot run '{python}': {error.strerror}",
                        EXIT_USAGE) from error
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise UserError(
            f"--python: '{python}' has no PyTorch ({said}); name one that "
            "has, for example of a virtual environment after pip install "
            f"torch, or leave it out for Debian's {DEBIANS}", EXIT_USAGE)
    if not done.stdout.strip():
        raise UserError(f"--python: the PyTorch of '{python}' has no Gloo",
                        EXIT_USAGE)
    return done.stdout.strip()
