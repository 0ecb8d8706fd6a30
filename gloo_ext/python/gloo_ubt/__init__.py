# SPDX-License-Identifier: Apache-2.0
"""Functions of the bounded allreduce under Gloo for a training script.

A script can train without them. They also work in a process without the
library: every allreduce is then plain Gloo's, exact and unbounded.
"""

from __future__ import annotations

import functools
import inspect
import sys
from typing import Any, Dict, Optional

from gloo_ubt.library import library
from gloo_ubt.packaged import preload_path

__all__ = ["bound_only_models", "exact", "last", "loaded", "preload_path",
           "register_hook", "resync", "skipped", "stats"]


def loaded() -> bool:
    """Whether this process was started with the library (ubtrun,
    LD_PRELOAD)."""
    return library() is not None


def stats() -> Dict[str, Any]:
    """Statistics on all allreduce calls of this process until now.

    Counts of calls:
      exact_ops: served by plain Gloo or another exact algorithm, while
          GLOO_ALGO is set.
      warmup_ops: on the bounded path, exact, without a bound.
      bounded_ops: on the bounded path, with a bound.
      expired_ops: bounded ones with a stage that ended before all had arrived.
      skipped_ops: made zero on all ranks; see skipped().
      failed_ops: raised an error.

    Of warm-up and bounded calls: bytes, and repaired_bytes (received on
    request).

    Of bounded calls:
      pairs_expected, pairs_missing: (contributor, element) pairs.
      loss_fraction: the ratio of these two.
      zeroed_elements: elements of this rank's shards that stayed zero, because
          too much was missing.
      drift_elements: elements that were filled in locally, so that replicas
          differ; error feedback does not reduce this count.
      p50_us, p99_us: of the last 4,096, in microseconds.

    safeguards, as of the newest bounded call:
      loss_average: the average share of other ranks' contributions that was
          missing, over about the last 16 calls of its group.
      zero_loss, skip_loss, halt_loss: the share where each begins to act; 0:
          never.

    bounds: scatter_us and broadcast_us for each size class, which reaches from
    bytes_from to less than twice that.

    peers: a dict for each other process, with its address, its rank (in the
    largest group that both are in), absent_ops (calls that left it out),
    late_us (by which its calls came after those of most ranks),
    expected_bytes, absent_bytes, late_bytes, cut_bytes, lost_bytes,
    refused_bytes and repaired_bytes.

    Returns an empty dict without the library.
    """
    found = library()
    return {} if found is None else found.stats()


def last() -> Optional[Dict[str, Any]]:
    """The report on the last call that took the bounded path, in any group.

    Times are in microseconds (took_us, bound_scatter_us, ...); docs/watching.md
    lists all keys. None if there was no such call, or without the library.
    """
    found = library()
    return None if found is None else found.last()


def skipped() -> bool:
    """Whether any allreduce was skipped since the last call of this function.

    With GLOO_UBT_SKIP_LOSS=P an allreduce is skipped if more than the share P
    of its contributions is missing. It then yields zeros on all ranks of its
    group. Call this function after each step, on all ranks. The answer is
    equal on all ranks if every group that sums large tensors contains all of
    them, as in data-parallel training:

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
    package, which knows the buckets of each step.

    DDP also works without the hook. With it and GLOO_UBT_SKIP_LOSS, a skip
    covers all buckets of a step: if one bucket lost too much, the whole
    gradient is zero, on all ranks.

    With `error_feedback`, the hook corrects results that a rank had to fill in
    (GLOO_UBT_REPAIR=none). It learns the other ranks' values and applies the
    correction two steps later. Replicas then do not drift apart, as far as the
    optimizer is linear in its gradients. The last two steps of a training are
    not corrected: end it with resync(model). The first step is not corrected
    either, because DDP reorders its buckets after it; that step is exact
    unless GLOO_UBT_BOUND is set.

    Without the library the hook does the same as DDP itself.

    Args:
        model: a DistributedDataParallel, on the CPU, before its first step and
            without another hook.
        group: the process group that `model` was made with; None: the default.
        error_feedback: the same on all ranks. Keeps a copy of 1/N of the
            gradient (N ranks) for two steps, and asks once a step, in the
            background, whether any rank filled anything in.

    Raises:
        RuntimeError: the model is on a GPU. PyTorch's gloo then reduces a
            copy, and the library cannot report on it to the hook.
    """
    from gloo_ubt.hook import register

    register(model, group, error_feedback)


def bound_only_models() -> None:
    """From now on, bounds only the gradients of models.

    Every process group that the script makes stays exact: its metrics,
    parameters and activations lack nobody. Models of DistributedDataParallel
    and FullyShardedDataParallel get a process group of their own, and that one
    is bounded. A model that the script gives a group or a mesh stays exact, and
    a warning says so.

    Call it on all ranks, before init_process_group(), and before
    "from torch.distributed import ..." of that function or of new_group.
    Without the library it changes only the models' group.

    Raises:
        RuntimeError: init_process_group() was called before.
    """
    from gloo_ubt.models import bound_only_models as bound

    bound()


def exact(group: Any = None) -> Any:
    """Keeps a process group exact: none of its sums is bounded.

    From now on, or in a `with` until its end:

        gloo_ubt.exact(metrics)
        with gloo_ubt.exact(group):
            dist.all_reduce(weights, group=group)

    Or while a function runs (not a coroutine), for the default group:

        @gloo_ubt.exact
        def average_weights(model): ...

    A collective, also at the end of the `with`: every rank of the group calls
    it, at the same point. If the `with` ends by an exception, the group stays
    exact.

    Args:
        group: a process group of the "gloo" backend; None: the default one. Or
            the function to decorate.

    Raises:
        RuntimeError: the library is loaded, but the group's calls do not reach
            it (another backend than gloo).
    """
    from gloo_ubt.choice import Exact

    if not inspect.isroutine(group):
        return Exact(group)

    @functools.wraps(group)
    def exactly(*args: Any, **kwargs: Any) -> Any:
        with Exact(None):
            return group(*args, **kwargs)

    return exactly


def resync(model: Any, group: Any = None) -> None:
    """Copies rank 0's parameters and buffers to every rank, exactly.

    Use it for replicas that drifted (stats()["drift_elements"]), now and then
    and at the end of a training. A collective: every rank of the group calls
    it, at the same point.

    Args:
        model: a torch.nn.Module, of the same shape on all ranks.
        group: a process group; None: the default one.
    """
    import torch
    import torch.distributed as dist

    feedback = sys.modules.get("gloo_ubt.feedback")
    if feedback is not None:  # resync() replaces pending corrections
        feedback.forget_all()
    source = 0 if group is None else dist.get_process_group_ranks(group)[0]
    with torch.no_grad():
        for tensor in model.state_dict().values():
            if isinstance(tensor, torch.Tensor) and tensor.numel() > 0:
                whole = tensor.contiguous()
                dist.broadcast(whole, src=source, group=group)
                tensor.copy_(whole)
