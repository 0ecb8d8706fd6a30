# SPDX-License-Identifier: Apache-2.0
"""What an example trains, apart from how its ranks meet."""
import dataclasses
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn


@dataclasses.dataclass(frozen=True)
class Task:
    """A model, and its data."""

    network: Callable[[], nn.Module]  # a new one, with torch's random numbers
    optimizer: Callable[[nn.Module], torch.optim.Optimizer]
    examples: int
    # Of a model, for numbers of examples.
    loss: Callable[[nn.Module, Tensor], Tensor]
    # How many items of the held-out data a model gets right, and how many there
    # are, in part `rank` of `size`.
    right: Callable[[nn.Module, int, int], tuple[int, int]]


def own_part(things: Tensor, rank: int, size: int) -> Tensor:
    """The rank's part of `things`: each thing belongs to one rank."""
    return things[rank::size]


def epoch_steps(count: int, batch: int, size: int) -> int:
    """The number of steps until all ranks together have seen `count` things.

    Things that do not fill a step are left out of this epoch.
    """
    return count // (batch * size)


def steps_of(task: Task, batch: int, epochs: int, most: int | None,
             size: int) -> int:
    """The number of steps of a training; `most` may end it earlier. Ends the
    process if there is none."""
    steps = epochs * epoch_steps(task.examples, batch, size)
    if steps == 0:
        raise SystemExit(f"{task.examples} examples are too few for a batch of "
                         f"{batch} for each rank")
    return min(steps, most) if most else steps


def shuffled_batches(count: int, batch: int, seed: int, epoch: int, rank: int,
                     size: int) -> Iterator[Tensor]:
    """The rank's batches of an epoch, as numbers below `count`.

    All ranks shuffle in the same order, and take turns.
    """
    generator = torch.Generator().manual_seed(1000 * seed + epoch)
    own = own_part(torch.randperm(count, generator=generator), rank, size)
    for i in range(epoch_steps(count, batch, size)):
        yield own[i * batch:(i + 1) * batch]
