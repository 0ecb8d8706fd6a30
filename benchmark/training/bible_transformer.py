# SPDX-License-Identifier: Apache-2.0
"""A small transformer learns to continue a text, character by character."""
import argparse

import torch
from torch import Tensor, nn
from torch.nn import functional

import characters
import data_parallel
from task import Task, own_part

_LENGTH = 64  # characters of context
_HEADS = 4
_LAYERS = 3
_HELD_OUT_PIECES = 512
_EVALUATED_AT_ONCE = 32

# For each character (row), those that it must not see.
_FUTURE = torch.ones(_LENGTH, _LENGTH, dtype=torch.bool).triu(1)


class Layer(nn.Module):
    """Attention to earlier characters, then a dense network."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.queries_keys_values = nn.Linear(width, 3 * width)
        self.heads = nn.Linear(width, width)
        self.dense = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(),
            nn.Linear(4 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self._attend(self.attention_norm(x))
        return x + self.dense(x)

    def _attend(self, x: Tensor) -> Tensor:
        pieces, length, width = x.shape
        queries, keys, values = (
            part.view(pieces, length, _HEADS, -1).transpose(1, 2)
            for part in self.queries_keys_values(x).split(width, 2))
        weights = queries @ keys.transpose(2, 3) / keys.shape[3] ** 0.5
        weights = weights.masked_fill(_FUTURE, float("-inf")).softmax(3)
        return self.heads((weights @ values).transpose(1, 2).reshape(x.shape))


class Transformer(nn.Module):
    """A transformer. A width of 128 has 0.6 million weights, 2.5 MB; they grow
    with its square. The width is a multiple of the heads."""

    def __init__(self, alphabet: str, width: int) -> None:
        super().__init__()
        self.characters = nn.Embedding(len(alphabet), width)
        self.places = nn.Parameter(0.02 * torch.randn(_LENGTH, width))
        self.layers = nn.Sequential(
            *(Layer(width) for _ in range(_LAYERS)), nn.LayerNorm(width),
            nn.Linear(width, len(alphabet)))

    def forward(self, characters_before: Tensor) -> Tensor:
        return self.layers(self.characters(characters_before) + self.places)


def pieces(text: bytes) -> Tensor:
    """Cuts `text` into (count, _LENGTH + 1): a first character and its
    continuation. A piece's last character is the next one's first.
    """
    numbers = torch.frombuffer(bytearray(text), dtype=torch.uint8)
    return numbers.unfold(0, _LENGTH + 1, _LENGTH)


def _width(text: str) -> int:
    width = int(text) if text.isdecimal() else 0
    if width <= 0 or width % _HEADS:
        raise argparse.ArgumentTypeError(
            f"{text}: has to be a multiple of {_HEADS}")
    return width


def parser() -> argparse.ArgumentParser:
    result = data_parallel.make_parser(
        __doc__, 8, 0.002, f"pieces of {_LENGTH} characters")
    result.add_argument("--data", required=True, metavar="FILE",
                        help="the text, in UTF-8; its end is held out")
    result.add_argument("--width", type=_width, default=128, metavar="N",
                        help=f"a multiple of {_HEADS} (default: 128)")
    return result


def task(arguments: argparse.Namespace) -> Task:
    text = characters.read(arguments.data)
    training = pieces(text.training)
    held_out = pieces(text.held_out)
    # Evenly spaced pieces.
    held_out = held_out[::max(1, len(held_out) // _HELD_OUT_PIECES)]

    def loss(model: nn.Module, batch: Tensor) -> Tensor:
        piece = training[batch].long()
        return functional.cross_entropy(
            model(piece[:, :-1]).transpose(1, 2), piece[:, 1:])

    def right(model: nn.Module, rank: int, size: int) -> tuple[int, int]:
        own = own_part(held_out, rank, size)
        count = 0
        for some in own.split(_EVALUATED_AT_ONCE):
            piece = some.long()
            found = model(piece[:, :-1]).argmax(2)
            count += int((found == piece[:, 1:]).sum())
        return count, len(own) * _LENGTH

    return Task(lambda: Transformer(text.alphabet, arguments.width),
                lambda transformer: torch.optim.AdamW(
                    transformer.parameters(), arguments.lr),
                len(training), loss, right)


if __name__ == "__main__":
    chosen = parser().parse_args()
    data_parallel.run(chosen, task(chosen))
