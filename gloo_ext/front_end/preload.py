# SPDX-License-Identifier: Apache-2.0
"""How a script with backend="gloo" gets this project's allreduce."""
import re

from . import bazel
from .errors import UserError

LIBRARY = "//gloo_ext:libgloo_ubt.so"


def check(path: str) -> None:
    """Raises UserError where a library at `path` cannot be preloaded."""
    if re.search(r"[\s:]", path):
        raise UserError(f"'{path}' cannot be preloaded, for the space or colon "
                        "in it; move this folder elsewhere")


def built(other: str | None = None) -> str:
    """The path of the library, up to date; of `other` in its place."""
    check(other or bazel.output(LIBRARY))
    return other or bazel.build(LIBRARY)


def variables(path: str, algorithm: str, before: str = "") -> dict[str, str]:
    """Environment variables that make a script use `algorithm`, with the
    library at `path`. `before` is what LD_PRELOAD is now, which stays."""
    others = [other for other in re.split(r"[\s:]+", before)
              if other not in ("", path)]
    return {"LD_PRELOAD": ":".join([path, *others]), "GLOO_ALGO": algorithm}
