# SPDX-License-Identifier: Apache-2.0
"""Code that the examples share: options, the training loop and its log.

Plain PyTorch, 1.13 or later. A rank gets its place from the environment: RANK,
WORLD_SIZE, MASTER_ADDR, MASTER_PORT, as torchrun sets them.

Only rank 0 writes the log. It has one JSON object a line. The first is
  {"steps", "parameters", "ranks", "seed", "torch"}
with the number of steps to come. Then come, now and then,
  {"step", "seconds", "loss"}      mean over ranks and steps since the last one
  {"step", "seconds", "accuracy"}  on held-out data, a fraction
and, as the last line,
  {"step", "seconds", "divergence"}  of the ranks' models (replicas.py)
Seconds count from the begin of the first step, without the evaluations.
"""
import argparse
import json
import time

import torch
import torch.distributed
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

import replicas
from lateness import Lateness, parse as parse_lateness
from task import Task, shuffled_batches, steps_of


def make_parser(description: str, batch: int, rate: float,
                unit: str) -> argparse.ArgumentParser:
    """The options of every example; `batch` is counted in `unit`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--epochs", type=int, default=1, metavar="N")
    parser.add_argument("--steps", type=int, metavar="N",
                        help="end after so many, if epochs have more")
    parser.add_argument("--batch", type=int, default=batch, metavar="N",
                        help=f"{unit} a rank and step (default: {batch})")
    parser.add_argument("--lr", type=float, default=rate, metavar="RATE",
                        help=f"learning rate (default: {rate})")
    parser.add_argument("--seed", type=int, default=1, metavar="N",
                        help="of weights and of the order of the data")
    parser.add_argument("--late", type=parse_lateness, metavar="RANK,SHARE,SECONDS",
                        help="this rank computes SECONDS longer in that share "
                        "of the steps, for example 3,0.1,0.3; any: another "
                        "rank each time, except 0; each: each rank in steps "
                        "of its own")
    parser.add_argument("--log", metavar="FILE",
                        help="where rank 0 writes a line of JSON at times")
    parser.add_argument("--log-every", type=int, default=10, metavar="STEPS")
    parser.add_argument("--evaluate-every", type=int, metavar="STEPS",
                        help="besides after each epoch "
                        "(default: a fifth of all steps)")
    return parser


def join(seed: int) -> None:
    """Meets the other ranks. From now on all ranks draw the same numbers."""
    torch.set_num_threads(1)  # the ranks share a machine's cores
    torch.distributed.init_process_group("gloo")
    torch.manual_seed(seed)


def leave() -> None:
    """Leaves the other ranks; call before the script ends."""
    # Meanwhile PyTorch's threads release the last tensors. A thread that does
    # so at the interpreter's end would end the process by SIGABRT (2.13).
    time.sleep(0.2)
    torch.distributed.destroy_process_group()


# Kept to the end. Otherwise PyTorch 1.13's summing thread may hold the last
# reference and wait for Python's lock to release it, while the main thread
# holds this lock, ends the process group and waits for that thread.
_SUMS = torch.zeros(2, dtype=torch.float64)


def mean_over_ranks(total: float, count: float) -> float:
    _SUMS[0], _SUMS[1] = total, count
    torch.distributed.all_reduce(_SUMS)
    return float(_SUMS[0] / _SUMS[1])


class Log:
    """Lines of JSON, and a clock that stops during evaluations. Only rank 0
    writes.
    """

    def __init__(self, path: str | None, **about: object) -> None:
        self._file = None
        if path and torch.distributed.get_rank() == 0:
            self._file = open(path, "w", encoding="utf-8")
        self._write(about)
        self._started = time.monotonic()

    def seconds(self) -> float:
        return time.monotonic() - self._started

    def leave_out(self, seconds: float) -> None:
        self._started += seconds

    def write(self, step: int, **values: float) -> None:
        self._write({"step": step, "seconds": self.seconds(), **values})

    def _write(self, values: dict[str, object]) -> None:
        if self._file:
            print(json.dumps(values), file=self._file, flush=True)


def run(arguments: argparse.Namespace, task: Task) -> None:
    """Trains as one rank of a job."""
    join(arguments.seed)
    Training(arguments, task).run()


class Training:
    """The loop: forward, backward (which averages gradients), update."""

    def __init__(self, arguments: argparse.Namespace, task: Task) -> None:
        """REQUIRES join()."""
        self._arguments = arguments
        self._task = task
        self._rank = torch.distributed.get_rank()
        self._size = torch.distributed.get_world_size()
        self._steps = steps_of(task, arguments.batch, arguments.epochs,
                               arguments.steps, self._size)
        model = task.network()
        self._optimizer = task.optimizer(model)
        self._late = Lateness(arguments.late, arguments.seed, self._rank,
                              self._size)
        self._model = DistributedDataParallel(model)
        self._log = Log(
            arguments.log, steps=self._steps,
            parameters=sum(p.numel() for p in model.parameters()),
            ranks=self._size, seed=arguments.seed,
            torch=torch.__version__)

    def run(self) -> None:
        arguments = self._arguments
        step = 0
        evaluate_every = arguments.evaluate_every or -(-self._steps // 5)
        evaluated = None
        losses = []
        for epoch in range(arguments.epochs):
            for batch in shuffled_batches(
                    self._task.examples, arguments.batch, arguments.seed,
                    epoch, self._rank, self._size):
                if step == self._steps:
                    break
                losses.append(self._step(batch))
                step += 1
                if step % arguments.log_every == 0 or step == self._steps:
                    self._log.write(
                        step, loss=mean_over_ranks(sum(losses), len(losses)))
                    losses = []
                if step % evaluate_every == 0:
                    self._evaluate(step)
                    evaluated = step
            if evaluated != step:
                self._evaluate(step)
                evaluated = step
        self._log.write(step, divergence=replicas.divergence(
            self._model.module))
        leave()

    def _step(self, batch: Tensor) -> float:
        late = self._late.next()
        if late > 0:
            time.sleep(late)
        loss = self._task.loss(self._model, batch)
        self._optimizer.zero_grad()
        loss.backward()
        self._optimizer.step()
        return loss.item()

    def _evaluate(self, step: int) -> None:
        began = time.monotonic()
        self._model.eval()
        with torch.no_grad():
            accuracy = mean_over_ranks(*self._task.right(
                self._model.module, self._rank, self._size))
        self._model.train()
        self._log.leave_out(time.monotonic() - began)
        self._log.write(step, accuracy=accuracy)
