# SPDX-License-Identifier: Apache-2.0
"""Makes a script with backend="gloo" use this project's allreduce."""
from __future__ import annotations

import re

from .errors import UserError


def check(path: str, remedy: str) -> None:
    """Raises UserError if a library at `path` cannot be preloaded."""
    if re.search(r"[\s:]", path):
        raise UserError(f"'{path}' cannot be preloaded, because LD_PRELOAD "
                        f"allows no space and no colon; {remedy}")


def variables(path: str, algorithm: str, before: str = "") -> dict[str, str]:
    """Environment variables that make a script use `algorithm` of the library
    at `path`. `before` is the current LD_PRELOAD; its libraries stay."""
    others = [other for other in re.split(r"[\s:]+", before)
              if other not in ("", path)]
    return {"LD_PRELOAD": ":".join([path, *others]), "GLOO_ALGO": algorithm}
