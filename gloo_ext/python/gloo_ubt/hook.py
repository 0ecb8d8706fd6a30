# SPDX-License-Identifier: Apache-2.0
"""A communication hook for DistributedDataParallel, which knows buckets."""

from __future__ import annotations

import functools
import os
from typing import Any, List

import torch
import torch.distributed as dist

from gloo_ubt import models
from gloo_ubt.feedback import Feedback
from gloo_ubt.library import library


def register(model: torch.nn.parallel.DistributedDataParallel, group: Any,
             error_feedback: bool) -> None:
    """See gloo_ubt.register_hook()."""
    if any(parameter.is_cuda for parameter in model.parameters()):
        raise RuntimeError("gloo_ubt.register_hook(): the model is on a GPU, "
                           "where the hook cannot tell what became of its "
                           "sums; leave the hook out")
    if group is None:
        group = models.group_of(model)
    model.register_comm_hook(_Hook(group, error_feedback), _reduce)


# No annotations: DDP compares them with types, but in this file they are
# strings.
def _reduce(hook, bucket):
    return hook.reduce(bucket)


class _Hook:
    """The state of one model's hook between calls."""

    def __init__(self, group: Any, error_feedback: bool) -> None:
        self._group = group
        self._size = dist.get_world_size(group)
        self._library = library()
        self._feedback = (Feedback(group) if error_feedback
                          and self._library is not None else None)
        # The library reports a value that is not a number.
        self._skips = self._library is not None and os.environ.get(
            "GLOO_UBT_SKIP_LOSS", "0") not in ("", "0")
        self._step = _Step()

    def reduce(self, bucket: Any) -> torch.futures.Future:
        """Begins the sum of a bucket; the future will hold the mean."""
        if bucket.index() == 0:
            self._step = _Step()
            if self._feedback is not None:
                self._feedback.begin_step()
        gradient = bucket.buffer()
        gradient.div_(self._size)  # first, as DDP does: half floats overflow
        tracked = self._feedback is not None or self._skips
        if tracked:
            self._library.track(gradient.data_ptr())
        reduced = dist.all_reduce(gradient, group=self._group,
                                  async_op=True).get_future()
        if not tracked:
            return reduced.then(_tensor)
        settled = reduced.then(
            functools.partial(self._settle, self._step, bucket.index()))
        if not self._skips:
            return settled
        return self._step.hold(settled, bucket.is_last())

    # Runs in a thread of PyTorch's.
    def _settle(self, step: _Step, index: int,
                future: torch.futures.Future) -> torch.Tensor:
        gradient = _tensor(future)
        report = self._library.taken(gradient.data_ptr())
        if report is not None and report["skipped"]:
            step.skipped = True
        if self._feedback is not None:
            self._feedback.settle(index, gradient, report)
        return gradient


class _Step:
    """The buckets of one step. Either all of them are skipped or none."""

    def __init__(self) -> None:
        self.skipped = False
        self._settled: List[torch.futures.Future] = []
        self._held: List[torch.futures.Future] = []

    def hold(self, settled: torch.futures.Future,
             last: bool) -> torch.futures.Future:
        """A future for the bucket that completes after all buckets of the
        step."""
        held: torch.futures.Future = torch.futures.Future()
        self._settled.append(settled)
        self._held.append(held)
        if last:
            torch.futures.collect_all(self._settled).then(self._release)
        return held

    def _release(self, _: torch.futures.Future) -> None:
        for settled, held in zip(self._settled, self._held):
            try:
                gradient = settled.value()
                held.set_result(gradient.zero_() if self.skipped else gradient)
            except Exception as error:  # from the allreduce
                held.set_exception(error)


def _tensor(future: torch.futures.Future) -> torch.Tensor:
    return future.value()[0]
