# SPDX-License-Identifier: Apache-2.0
"""Makes a script with backend="gloo" use this project's allreduce."""
from __future__ import annotations

import os
import re

from .errors import EXIT_USAGE, UserError


def check(path: str, remedy: str) -> None:
    """Raises UserError if a library at `path` cannot be preloaded."""
    if re.search(r"[\s:]", path):
        raise UserError(f"'{path}' cannot be preloaded, because LD_PRELOAD "
                        f"allows no space and no colon; {remedy}")


def variables(path: str, algorithm: str, before: str = "") -> dict[str, str]:
    """Environment variables that make a script use `algorithm` of the library
    at `path`. `before` is the current LD_PRELOAD; its libraries stay.

    Raises UserError if another copy of the library is among them.
    """
    others = [other for other in re.split(r"[\s:]+", before)
              if other and os.path.realpath(other) != os.path.realpath(path)]
    for other in others:
        if os.path.basename(other) == os.path.basename(path):
            raise UserError(
                f"LD_PRELOAD already has another copy of the library, {other}, "
                f"beside {path}: unset LD_PRELOAD", EXIT_USAGE)
    return {"LD_PRELOAD": ":".join([path, *others]), "GLOO_ALGO": algorithm}
