# SPDX-License-Identifier: Apache-2.0
"""What a training script may ask of the bounded allreduce under Gloo.

A script needs none of this to train over it. Everything here also works in a
process without the library, where every allreduce is plain Gloo's: then nothing
is bounded and nothing lost.
"""

from __future__ import annotations

import os
from typing import Any, Dict, Optional

from gloo_ubt.library import library

__all__ = ["exact", "last", "loaded", "resync", "stats"]


def loaded() -> bool:
    """Whether this process was started with the library (ubtrun, LD_PRELOAD)."""
    return library() is not None


def stats() -> Dict[str, Any]:
    """What became of this process's allreduce calls so far.

    Counts: exact_ops (served by plain Gloo), warmup_ops (over the bounded path,
    exact, as long as they took), bounded_ops, expired_ops (bounded, and a stage
    met its bound), failed_ops (raised). Of the bounded ones: bytes,
    pairs_expected and pairs_missing ((contributor, element) pairs), their ratio
    loss_fraction, drift_elements (filled in locally, where replicas differ),
    p50_us and p99_us (microseconds, of the last 4,096), and peers: by rank,
    bytes expected, absent, late, lost, refused and repaired.

    Returns an empty dict without the library.
    """
    found = library()
    return {} if found is None else found.stats()


def last() -> Optional[Dict[str, Any]]:
    """The report on the last call that took the bounded path, in any group.

    Times are in microseconds (took_us, bound_scatter_us, ...); docs/drop_in.md
    names all. None if there was none yet, or without the library.
    """
    found = library()
    return None if found is None else found.last()


def exact(group: Any = None) -> None:
    """Keeps a process group exact: none of its sums is bounded from here on.

    A collective: every rank of the group calls it, at the same point.

    Args:
        group: a process group of the "gloo" backend; None: the default one.

    Raises:
        RuntimeError: the library is there, and the group's calls do not reach
            it (another backend than gloo).
    """
    import torch
    import torch.distributed as dist

    found = library()
    if found is None:
        return
    # A group takes its contexts in turns, one for each interface.
    interfaces = os.environ.get("GLOO_SOCKET_IFNAME", "").split(",")
    for _ in interfaces:
        token = os.urandom(64)
        found.expect_exact(token)
        dist.all_reduce(torch.frombuffer(bytearray(token), dtype=torch.uint8),
                        group=group)
        came = found.became_exact(token)
        if not came and dist.get_world_size(group) > 1:
            raise RuntimeError(
                "gloo_ubt.exact(): this group's allreduce is not served by the "
                "library; is its backend gloo, and GLOO_ALGO=optireduce set?")


def resync(model: Any, group: Any = None) -> None:
    """Gives every rank rank 0's parameters and buffers, exactly.

    For replicas that drifted (stats()["drift_elements"]). A collective: every
    rank of the group calls it, at the same point.

    Args:
        model: a torch.nn.Module, of the same shape on all ranks.
        group: a process group; None: the default one.
    """
    import torch
    import torch.distributed as dist

    source = 0 if group is None else dist.get_process_group_ranks(group)[0]
    with torch.no_grad():
        for tensor in model.state_dict().values():
            if isinstance(tensor, torch.Tensor) and tensor.numel() > 0:
                whole = tensor.contiguous()
                dist.broadcast(whole, src=source, group=group)
                tensor.copy_(whole)
