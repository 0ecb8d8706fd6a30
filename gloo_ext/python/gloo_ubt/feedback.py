# SPDX-License-Identifier: Apache-2.0
"""Error feedback: corrects values that a rank filled in for missing
results."""

from __future__ import annotations

import weakref
from typing import Any, Dict, List, Optional, Tuple

import torch
import torch.distributed as dist


class _Bucket:
    """The parts of a bucket's result that are kept until gaps are known."""

    def __init__(self, gradient: torch.Tensor, report: Dict[str, Any]) -> None:
        self.elements = gradient.numel()
        self.shard_elements = report["shard_elements"]
        # With groups of ranks: the first group's owners. Empty: rank i owns i.
        self.shard_owners = report["shard_owners"]
        begin, count = report["own_shard"]
        self.own = gradient[begin:begin + count].clone()
        # (first element, values filled in)
        self.filled = [(begin, gradient[begin:begin + count].clone())
                       for begin, count in report["filled"]]

    def lacking(self) -> List[int]:
        """The shards that this rank filled in, wholly or in part."""
        return [begin // self.shard_elements for begin, _ in self.filled]

    def owner(self, shard: int) -> int:
        return self.shard_owners[shard] if self.shard_owners else shard

    def place(self, shard: int) -> Tuple[int, int]:
        """The first element of a shard, and the end."""
        begin = min(shard * self.shard_elements, self.elements)
        return begin, min(begin + self.shard_elements, self.elements)


_all: "weakref.WeakSet[Feedback]" = weakref.WeakSet()


def forget_all() -> None:
    """Drops all corrections of all models: replicas are equal now."""
    for feedback in _all:
        feedback.forget()


class Feedback:
    """The feedback of one model's buckets, at one rank.

    During the next step the ranks find out which shards have gaps. In the step
    after that, owners send the exact values of these shards. A rank with a gap
    adds the difference to that step's result of the same bucket.

    begin_step() makes collective calls: the same ones on all ranks.
    """

    def __init__(self, group: Any) -> None:
        self._group = group
        self._rank = dist.get_rank(group)
        self._size = dist.get_world_size(group)
        self._newest: Dict[int, _Bucket] = {}  # by index, as the others
        self._asked: Dict[int, _Bucket] = {}
        self._gaps: Optional[torch.Tensor] = None  # (buckets, shards)
        self._answer: Any = None
        self._owed: Dict[int, List[Tuple[int, torch.Tensor]]] = {}
        self._steps = 0
        _all.add(self)

    def forget(self) -> None:
        """Drops all corrections. Call between steps, on all ranks."""
        if self._answer is not None:
            self._answer.wait()
            self._answer = None
        self._newest, self._asked, self._owed = {}, {}, {}

    def begin_step(self) -> None:
        """Call after the previous step has ended, before any bucket's sum."""
        self._steps += 1
        self._owed = {}
        if self._answer is not None:
            self._answer.wait()
            self._make_good()
        self._asked, self._newest = self._newest, {}
        self._ask()

    def settle(self, index: int, gradient: torch.Tensor,
               report: Optional[Dict[str, Any]]) -> None:
        """Call with each bucket's result; `report` None: it is exact.

        Adds pending corrections to the result. Any thread may call.
        """
        # DDP reorders its buckets after the first step.
        if report is not None and self._steps > 1:
            self._newest[index] = _Bucket(gradient, report)
        for begin, difference in self._owed.get(index, ()):
            gradient[begin:begin + difference.numel()] += difference

    def _ask(self) -> None:
        """Begins a collective that finds, for each bucket, the shards with a
        gap at any rank."""
        self._answer = None
        # The same buckets are on the bounded path at all ranks.
        if not self._asked:
            return
        self._gaps = torch.zeros(max(self._asked) + 1, self._size,
                                 dtype=torch.int32)
        for index, bucket in self._asked.items():
            for shard in bucket.lacking():
                self._gaps[index, shard] = 1
        self._answer = dist.all_reduce(self._gaps, dist.ReduceOp.MAX,
                                       group=self._group, async_op=True)

    def _make_good(self) -> None:
        for index, shard in self._gaps.nonzero().tolist():
            bucket = self._asked[index]
            begin, end = bucket.place(shard)
            owner = bucket.owner(shard)
            values = (bucket.own if owner == self._rank
                      else bucket.own.new_empty(end - begin))
            dist.broadcast(values, src=self._global_rank(owner),
                           group=self._group)
            self._owed.setdefault(index, []).extend(
                (at, values[at - begin:at - begin + filled.numel()] - filled)
                for at, filled in bucket.filled if begin <= at < end)

    def _global_rank(self, rank: int) -> int:
        if self._group is None:
            return rank
        return dist.get_process_group_ranks(self._group)[rank]
