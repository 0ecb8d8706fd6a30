# SPDX-License-Identifier: Apache-2.0
"""Trains one of the examples in virtual time. The replicas of all ranks live in
this process; a simulated allreduce adds up their gradients.

Bounded algorithms are the protocol itself: replicas lack the data that it
leaves out. The ranks of an exact algorithm have equal replicas, so one is
trained for all, and only times are simulated.

Buckets of any size are bounded; on sockets, those below 256 KiB are exact.

The log is that of benchmark/training/data_parallel.py, with virtual seconds.
"loss" and "accuracy" are means over ranks. It has further values.
  "bytes"    in the first line: the sizes of the buckets
  "worst"    with "accuracy": the accuracy of the worst replica
  "missing"  in the last line: share of (rank, element) pairs that sums lacked
  "cut"      in the last line: share of pairs that were left out on purpose
"""
import argparse
import hashlib
import importlib
import json
import math
import os
import random
import sys
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "training"))
from lateness import Lateness  # noqa: E402
from replicas import divergence_of  # noqa: E402
from task import (Task, epoch_steps, shuffled_batches,  # noqa: E402
                  steps_of)

from buckets import Gradients  # noqa: E402
from virtual_job import Ended, VirtualJob  # noqa: E402

_EXAMPLES = ("fashion_cnn", "bible_transformer")
_BOUNDED = ("optireduce", "hierarchical_optireduce")
_THREADS = 2  # of PyTorch's gloo: ops that a rank has under way at once
_FORWARD = 1 / 3  # of the time to compute; the rest is the backward pass
_NORMAL_AT_99 = 2.3263


def _arguments(argv: Sequence[str]) -> tuple[argparse.Namespace, Task]:
    if not argv or argv[0] not in _EXAMPLES:
        raise SystemExit(f"usage: train.py {'|'.join(_EXAMPLES)} [options]; "
                         "--help after the name says more")
    example = importlib.import_module(argv[0])
    parser = example.parser()
    virtual = parser.add_argument_group("virtual time")
    virtual.add_argument("--library", required=True, metavar="PATH",
                         help="of libvirtual_job.so")
    virtual.add_argument("--algorithm", required=True, metavar="NAME",
                         help="as of benchmark/simulate")
    virtual.add_argument("--options", required=True, metavar="TEXT",
                         help="of the simulated job, without ranks")
    virtual.add_argument("--ranks", type=int, default=8, metavar="N")
    virtual.add_argument("--compute-ms", type=float, default=50, metavar="MS",
                         help="median time to compute a step (default: 50)")
    virtual.add_argument("--compute-tail", type=float, default=1,
                         metavar="P99/50", help="of these times (default: 1)")
    arguments = parser.parse_args(argv[1:])
    return arguments, example.task(arguments)


class _Clock:
    """Draws the times that ranks take to compute."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._median = arguments.compute_ms / 1000
        self._sigma = math.log(arguments.compute_tail) / _NORMAL_AT_99
        self._random = [random.Random(f"{arguments.seed} {rank}")
                        for rank in range(arguments.ranks)]
        self._late = [Lateness(arguments.late, arguments.seed, rank,
                               arguments.ranks)
                      for rank in range(arguments.ranks)]

    def seconds(self, rank: int) -> float:
        """For the rank's next step."""
        late = self._late[rank].next()
        return late + self._median * math.exp(
            self._sigma * self._random[rank].gauss(0, 1))


def _batches(arguments: argparse.Namespace, task: Task,
             rank: int) -> Iterator[Tensor]:
    """The batches of a rank, epoch after epoch."""
    for epoch in range(arguments.epochs):
        yield from shuffled_batches(task.examples, arguments.batch,
                                    arguments.seed, epoch, rank,
                                    arguments.ranks)


class _Replica:
    """A model that learns from the batches of some ranks."""

    def __init__(self, task: Task, model: nn.Module,
                 batches: Sequence[Iterator[Tensor]], ranks: int) -> None:
        self._task = task
        self._ranks = ranks
        self.model = model
        self._batches = batches
        self._optimizer = task.optimizer(model)
        self.gradients = Gradients(model)

    def compute(self) -> float:
        """Fills the buckets with the sum of its batches' gradients, divided by
        the number of ranks. Returns the mean of their losses."""
        self.gradients.clear()
        total = 0.0
        for batches in self._batches:
            self._optimizer.zero_grad(set_to_none=True)
            loss = self._task.loss(self.model, next(batches))
            loss.backward()
            self.gradients.add(self._ranks)
            total += loss.item()
        return total / len(self._batches)

    def learn(self) -> None:
        """Uses the sums over all ranks in its buckets."""
        self.gradients.give()
        self._optimizer.step()

    def fingerprint(self) -> bytes:
        """Equal models have equal ones."""
        digest = hashlib.blake2b()
        for parameter in self.model.parameters():
            digest.update(parameter.detach().contiguous().numpy().tobytes())
        return digest.digest()

    def accuracy(self) -> float:
        self.model.eval()
        with torch.no_grad():
            right, count = self._task.right(self.model, 0, 1)
        self.model.train()
        return right / count


def _replicas(arguments: argparse.Namespace, task: Task,
              bounded: bool) -> list[_Replica]:
    """One for each rank, or one for all."""
    torch.manual_seed(arguments.seed)
    first = task.network()
    batches = [_batches(arguments, task, rank)
               for rank in range(arguments.ranks)]
    if not bounded:
        return [_Replica(task, first, batches, arguments.ranks)]
    found = []
    for own in batches:
        model = task.network()
        model.load_state_dict(first.state_dict())
        found.append(_Replica(task, model, [own], arguments.ranks))
    return found


class _Step:
    """One step of one rank. Its buckets leave in order, when they are ready and
    a thread is free."""

    def __init__(self, number: int, began: float, computing: float,
                 gradients: Gradients) -> None:
        self.number = number
        self.end = began + computing  # at least
        backward = computing * (1 - _FORWARD)
        self._ready = [
            began + computing * _FORWARD + backward * bucket.ready
            for bucket in gradients.layout]
        self._left = 0  # buckets that have left
        self._returned = 0

    def leaves(self, now: float) -> tuple[int, float] | None:
        """The next bucket that leaves, and when. None: all have left."""
        if self._left == len(self._ready):
            return None
        bucket = self._left
        self._left += 1
        return bucket, max(now, self._ready[bucket])

    def returned(self, at: float) -> bool:
        """A bucket has returned. Whether it was the last."""
        self.end = max(self.end, at)
        self._returned += 1
        return self._returned == len(self._ready)


class _Training:
    def __init__(self, arguments: argparse.Namespace, task: Task) -> None:
        self._arguments = arguments
        self._ranks = arguments.ranks
        base = arguments.algorithm.partition(":")[0].partition("+")[0]
        self._bounded = base in _BOUNDED
        self._steps = steps_of(task, arguments.batch, arguments.epochs,
                               arguments.steps, self._ranks)
        self._epoch_steps = epoch_steps(task.examples, arguments.batch,
                                        self._ranks)
        self._replicas = _replicas(arguments, task, self._bounded)
        self._buckets = len(self._replicas[0].gradients.buckets)
        self._clock = _Clock(arguments)
        self._evaluate_every = (arguments.evaluate_every
                                or -(-self._steps // 5))
        self._file = (open(arguments.log, "w", encoding="utf-8")
                      if arguments.log else sys.stdout)
        # By step, of the ranks that have come to it.
        self._ends: dict[int, list[float]] = {}
        self._losses: dict[int, list[float]] = {}
        self._accuracies: dict[int, list[float]] = {}
        self._known: dict[bytes, float] = {}  # accuracies, by fingerprint
        self._recent: list[float] = []  # losses since the last line
        self._missing = 0.0  # summed over bounded calls
        self._cut = 0.0
        self._calls = 0
        self._running: list[_Step | None] = [None] * self._ranks

    def run(self) -> None:
        parameters = sum(p.numel()
                         for p in self._replicas[0].model.parameters())
        self._write(steps=self._steps, parameters=parameters,
                    ranks=self._ranks, seed=self._arguments.seed,
                    torch=torch.__version__,
                    bytes=[4 * bucket.numel() for bucket
                           in self._replicas[0].gradients.buckets])
        with VirtualJob(self._arguments.library, self._arguments.algorithm,
                        self._arguments.options, self._ranks) as job:
            for rank in range(self._ranks):
                self._begin(job, rank, 0, 0.0)
            while (ended := job.next()) is not None:
                self._take(job, ended)
        last = max(self._ends[self._steps])
        self._write(step=self._steps, seconds=last,
                    divergence=divergence_of(zip(*(
                        replica.model.parameters()
                        for replica in self._replicas))), missing=self._mean(
                        self._missing), cut=self._mean(self._cut))

    def _mean(self, total: float) -> float:
        return total / self._calls if self._calls else 0.0

    def _write(self, **values: object) -> None:
        print(json.dumps(values), file=self._file, flush=True)

    def _replica(self, rank: int) -> _Replica:
        return self._replicas[rank if self._bounded else 0]

    def _computes(self, rank: int) -> bool:
        """Whether this rank computes gradients. Equal replicas compute once a
        step, with the first rank."""
        return self._bounded or rank == 0

    def _begin(self, job: VirtualJob, rank: int, number: int,
               now: float) -> None:
        replica = self._replica(rank)
        if self._computes(rank):
            self._losses.setdefault(number + 1, []).append(replica.compute())
        step = _Step(number, now, self._clock.seconds(rank),
                     replica.gradients)
        self._running[rank] = step
        for _ in range(_THREADS):
            self._leave(job, rank, step, now)

    def _leave(self, job: VirtualJob, rank: int, step: _Step,
               now: float) -> None:
        leaves = step.leaves(now)
        if leaves is not None:
            bucket, at = leaves
            job.enter(rank, step.number * self._buckets + bucket, at,
                      self._replica(rank).gradients.buckets[bucket])

    def _take(self, job: VirtualJob, ended: Ended) -> None:
        rank, now = ended.rank, ended.at
        if ended.bounded:
            self._calls += 1
            self._missing += ended.missing
            self._cut += ended.cut
        step = self._running[rank]
        assert step is not None
        if not step.returned(now):
            self._leave(job, rank, step, now)
            return
        number = step.number + 1
        if self._computes(rank):
            self._replica(rank).learn()
            if self._is_evaluated(number):
                self._accuracies.setdefault(number, []).append(
                    self._accuracy(self._replica(rank)))
        ends = self._ends.setdefault(number, [])
        ends.append(step.end)
        if len(ends) == self._ranks:
            self._log(number)
        if number < self._steps:
            self._begin(job, rank, number, step.end)

    def _accuracy(self, replica: _Replica) -> float:
        """Equal replicas are evaluated once."""
        own = replica.fingerprint()
        if own not in self._known:
            self._known = {own: replica.accuracy()}
        return self._known[own]

    def _is_evaluated(self, number: int) -> bool:
        return (number % self._evaluate_every == 0 or number == self._steps
                or number % self._epoch_steps == 0)

    def _log(self, number: int) -> None:
        """All ranks have finished the step."""
        seconds = max(self._ends[number])
        losses = self._losses.pop(number)
        self._recent.append(sum(losses) / len(losses))
        if number % self._arguments.log_every == 0 or number == self._steps:
            self._write(step=number, seconds=seconds,
                        loss=sum(self._recent) / len(self._recent))
            self._recent = []
        if self._is_evaluated(number):
            accuracies = self._accuracies.pop(number)
            self._write(step=number, seconds=seconds,
                        accuracy=sum(accuracies) / len(accuracies),
                        worst=min(accuracies))
        if number < self._steps:
            del self._ends[number]


def main(argv: Sequence[str]) -> None:
    arguments, task = _arguments(argv)
    torch.set_num_threads(1)  # results depend on the number
    _Training(arguments, task).run()


if __name__ == "__main__":
    main(sys.argv[1:])
