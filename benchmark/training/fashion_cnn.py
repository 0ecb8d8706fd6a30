# SPDX-License-Identifier: Apache-2.0
"""A small convolutional network learns to name clothes (Fashion-MNIST)."""
import argparse
import os

import torch
from torch import Tensor, nn
from torch.nn import functional

import data_parallel
import idx
from task import Task, own_part

_CLASSES = 10
_MEAN, _DEVIATION = 0.286, 0.353  # of the training images' pixels
_EVALUATED_AT_ONCE = 100


class Network(nn.Module):
    """Two convolutions and two dense layers: 0.8 million weights, 3.3 MB."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(32 * 7 * 7, 512), nn.ReLU(),
            nn.Linear(512, _CLASSES))

    def forward(self, images: Tensor) -> Tensor:
        pixels = images.unsqueeze(1).float() / 255
        return self.layers((pixels - _MEAN) / _DEVIATION)


def read(folder: str, part: str) -> tuple[Tensor, Tensor]:
    """Returns images (count, 28, 28) of bytes, and their classes."""
    tensors = []
    for name in (f"{part}-images-idx3-ubyte.gz",
                 f"{part}-labels-idx1-ubyte.gz"):
        dimensions, elements = idx.read(os.path.join(folder, name))
        tensors.append(torch.frombuffer(
            bytearray(elements), dtype=torch.uint8).view(dimensions))
    images, classes = tensors
    return images, classes.long()


def parser() -> argparse.ArgumentParser:
    result = data_parallel.make_parser(__doc__, 64, 0.05, "images")
    result.add_argument(
        "--data", default="/usr/share/datasets/fashion-mnist",
        metavar="FOLDER", help="with MNIST's four files (default: %(default)s)")
    return result


def task(arguments: argparse.Namespace) -> Task:
    images, classes = read(arguments.data, "train")
    test_images, test_classes = read(arguments.data, "t10k")

    def loss(model: nn.Module, batch: Tensor) -> Tensor:
        return functional.cross_entropy(model(images[batch]), classes[batch])

    def right(model: nn.Module, rank: int, size: int) -> tuple[int, int]:
        own = own_part(torch.arange(len(test_classes)), rank, size)
        count = 0
        for some in own.split(_EVALUATED_AT_ONCE):
            found = model(test_images[some]).argmax(1)
            count += int((found == test_classes[some]).sum())
        return count, len(own)

    return Task(Network,
                lambda network: torch.optim.SGD(
                    network.parameters(), arguments.lr, momentum=0.9),
                len(classes), loss, right)


if __name__ == "__main__":
    chosen = parser().parse_args()
    data_parallel.run(chosen, task(chosen))
