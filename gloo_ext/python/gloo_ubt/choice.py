# SPDX-License-Identifier: Apache-2.0
"""Which process groups may have bounded sums."""

from __future__ import annotations

import collections
import contextlib
import os
from typing import Any, Optional

import torch
import torch.distributed as dist

from gloo_ubt.library import library

# As in gloo_ubt.h.
EXACT = 0
BOUNDED = 1

# The newest tensors. If torch's worker threads released one last while Python
# ends, the process would abort: they would need the interpreter.
_kept: collections.deque = collections.deque(maxlen=16)


def choose(group: Any, choice: int) -> Optional[int]:
    """Makes the choice for a group. A collective. Returns the one that it
    replaces; None if no sum of this process can be bounded.

    Raises:
        RuntimeError: the group's calls do not reach the library.
    """
    found = library()
    if found is None or not found.may_bound():
        return None
    replaced = None
    # A group uses its contexts in turn, one for each interface.
    interfaces = os.environ.get("GLOO_SOCKET_IFNAME", "").split(",")
    for _ in interfaces:
        token = os.urandom(64)
        found.expect(token, choice)
        tensor = torch.frombuffer(bytearray(token), dtype=torch.uint8)
        _kept.append(tensor)
        dist.all_reduce(tensor, group=group)
        replaced = found.came(token)
        if replaced is None and dist.get_world_size(group) > 1:
            raise RuntimeError(
                "gloo_ubt: this group's allreduce is not served by the "
                "library; is its backend gloo, and GLOO_ALGO=optireduce set?")
    return replaced


class Exact(contextlib.AbstractContextManager):
    """A group that is exact from now on, or until the end of a `with`."""

    def __init__(self, group: Any) -> None:
        self._group = group
        self._replaced = choose(group, EXACT)

    def __call__(self, *_: Any) -> Any:
        raise TypeError("gloo_ubt.exact(...) decorates nothing: write "
                        "@gloo_ubt.exact for the default group, or a 'with' "
                        "inside the function")

    def __exit__(self, kind: Any, *unused: Any) -> None:
        # After an exception other ranks may not come here.
        if kind is None and self._replaced is not None:
            choose(self._group, self._replaced)
