# SPDX-License-Identifier: Apache-2.0
"""The buckets of a model's gradients, as DistributedDataParallel makes them
from the second step on. The last parameter's gradient is ready first, and the
first parameter's last."""
import dataclasses
from collections.abc import Sequence

import torch
from torch import Tensor, nn

FIRST_BYTES = 1 << 20
BYTES = 25 << 20


@dataclasses.dataclass(frozen=True)
class Bucket:
    parameters: Sequence[int]  # numbers, in the order of the model
    elements: int
    ready: float  # the part of the backward pass after which it is complete


def buckets_of(sizes: Sequence[int]) -> list[Bucket]:
    """The buckets of float32 parameters with these numbers of elements. A
    parameter's gradient takes time in proportion to its elements."""
    total = sum(sizes)
    done = 0
    found = []
    own: list[int] = []
    elements = 0
    for number in reversed(range(len(sizes))):
        own.append(number)
        elements += sizes[number]
        done += sizes[number]
        limit = BYTES if found else FIRST_BYTES
        if 4 * elements >= limit or number == 0:
            found.append(Bucket(tuple(own), elements, done / total))
            own, elements = [], 0
    return found


class Gradients:
    """A model's gradients, in buckets of contiguous memory."""

    def __init__(self, model: nn.Module) -> None:
        self._parameters = list(model.parameters())
        self.layout = buckets_of([p.numel() for p in self._parameters])
        self.buckets = [torch.zeros(bucket.elements) for bucket in self.layout]
        self._views: list[tuple[Tensor, Tensor]] = []  # parameter, its part
        for bucket, memory in zip(self.layout, self.buckets):
            at = 0
            for number in bucket.parameters:
                parameter = self._parameters[number]
                part = memory[at:at + parameter.numel()]
                self._views.append((parameter, part.view_as(parameter)))
                at += parameter.numel()

    def add(self, ranks: int) -> None:
        """Adds the gradients that backward() left to the buckets, divided by
        the number of ranks."""
        for parameter, part in self._views:
            part.add_(parameter.grad / ranks)

    def clear(self) -> None:
        for memory in self.buckets:
            memory.zero_()

    def give(self) -> None:
        """Makes the buckets the parameters' gradients."""
        for parameter, part in self._views:
            parameter.grad = part
