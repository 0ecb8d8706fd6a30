# SPDX-License-Identifier: Apache-2.0
"""What a training script may ask of the bounded allreduce under Gloo.

A script needs none of this to train over it. Everything here also works in a
process without the library, where every allreduce is plain Gloo's: then nothing
is bounded and nothing lost.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Dict, Optional

from gloo_ubt.library import library

__all__ = ["exact", "last", "loaded", "register_hook", "resync", "skipped",
           "stats"]


def loaded() -> bool:
    """Whether this process was started with the library (ubtrun, LD_PRELOAD)."""
    return library() is not None


def stats() -> Dict[str, Any]:
    """What became of this process's allreduce calls so far.

    Counts: exact_ops (served by plain Gloo or another exact algorithm, while
    GLOO_ALGO is set), warmup_ops (over the bounded path, exact, as long as they
    took), bounded_ops, expired_ops (bounded, and a stage met its bound or ended
    early), skipped_ops (made zero on all ranks: skipped()), failed_ops
    (raised). zeroed_elements: of this rank's shards, left zero for too much was
    missing.

    safeguards, as of the newest bounded call: loss_average (the share of what
    others bring that the last 16 calls or so of its group lack), and from where
    on each acts (0: never): zero_loss, skip_loss and halt_loss.

    Of warm-up and bounded ones: bytes, repaired_bytes (came on request).

    Of bounded ones: pairs_expected and pairs_missing ((contributor, element)
    pairs), their ratio loss_fraction, drift_elements (filled in locally, where
    replicas differ, whether made good since or not), p50_us and p99_us
    (microseconds, of the last 4,096).

    bounds, by size (from bytes_from to under its double): scatter_us
    and broadcast_us. peers, a dict for each other process: rank (in the
    largest group that both are in), address, and expected_bytes, absent_bytes,
    late_bytes, lost_bytes, refused_bytes and repaired_bytes.

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


def skipped() -> bool:
    """Whether any allreduce was skipped since this was asked last.

    With GLOO_UBT_SKIP_LOSS=P an allreduce that lacks more than the share P of
    what it should sum is skipped: it yields zeros, on all ranks of its group.
    Ask after each step, on all ranks; where all of them are in every group that
    sums large tensors, as in data-parallel training, the answer is the same on
    all:

        loss.backward()
        if not gloo_ubt.skipped():
            optimizer.step()

    False without the library.
    """
    found = library()
    return found is not None and found.skipped()


def register_hook(model: Any, group: Any = None,
                  error_feedback: bool = False) -> None:
    """Makes DistributedDataParallel reduce its buckets by a hook of this
    package, which knows which buckets belong to one step.

    Without it DDP works as well. With it, where GLOO_UBT_SKIP_LOSS is set, a
    skip covers all buckets of a step: if one lost too much, the whole gradient
    is zero, on all ranks. And with `error_feedback`, what a rank had to fill in
    for want of a result (GLOO_UBT_REPAIR=none) is made good two steps later,
    when it has learnt what the others had: then replicas do not drift apart, as
    far as the optimizer is linear in its gradients. Not so the last two steps
    of a training: end it with resync(model). Nor the first, after which DDP
    orders its buckets anew; it is exact unless GLOO_UBT_BOUND is set.

    Without the library the hook does what DDP does by itself.

    Args:
        model: a DistributedDataParallel, on the CPU, before its first step and
            without another hook.
        group: the process group that `model` was made with; None: the default.
        error_feedback: the same on all ranks. Keeps a copy of 1/N of the
            gradient (N ranks) for two steps, and asks once a step, in the
            background, whether any rank filled anything in.

    Raises:
        RuntimeError: the model is on a GPU; PyTorch's gloo then reduces a copy
            of which the hook cannot be told.
    """
    from gloo_ubt.hook import register

    register(model, group, error_feedback)


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
    if found is None or not found.may_bound():
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

    For replicas that drifted (stats()["drift_elements"]), now and then and at
    the end of a training. A collective: every rank of the group calls it, at
    the same point.

    Args:
        model: a torch.nn.Module, of the same shape on all ranks.
        group: a process group; None: the default one.
    """
    import torch
    import torch.distributed as dist

    feedback = sys.modules.get("gloo_ubt.feedback")
    if feedback is not None:  # what is owed is settled by this
        feedback.forget_all()
    source = 0 if group is None else dist.get_process_group_ranks(group)[0]
    with torch.no_grad():
        for tensor in model.state_dict().values():
            if isinstance(tensor, torch.Tensor) and tensor.numel() > 0:
                whole = tensor.contiguous()
                dist.broadcast(whole, src=source, group=group)
                tensor.copy_(whole)
