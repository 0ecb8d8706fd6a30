# SPDX-License-Identifier: Apache-2.0
"""The transform of a float32 shard, an independent implementation of
transport_ubt/kernels/hadamard.h."""

import torch

ROWS = 64
TILE_COLUMNS = 256  # of 1024 bytes
MASK = (1 << 64) - 1


def _mixed(bits):
    bits = ((bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9) & MASK
    bits = ((bits ^ (bits >> 27)) * 0x94d049bb133111eb) & MASK
    return bits ^ (bits >> 31)


def _splitmix64(seed, number):
    return _mixed((seed + (number + 1) * 0x9e3779b97f4a7c15) & MASK)


def seed_of(report, shard):
    """The seed for a call through Gloo's options (Op::seedOf)."""
    call = _mixed(report["tag"] << 32 | report["count"])
    return _mixed((call + (shard << 1)) & MASK)


def matrices(count):
    """The blocks of a shard with `count` elements: (begin, columns)."""
    while count >= ROWS:
        columns = count // ROWS
        stride = columns * 4
        if stride >= 4096 and (stride + 32) % 512 < 64:
            columns -= 16
        count -= ROWS * columns
        yield count, columns


def forward(shard, seed):
    """Coefficients, in double precision."""
    numbers = range(ROWS)
    signs = torch.tensor([[-1.0 if bin(i & j).count("1") % 2 else 1.0
                           for j in numbers] for i in numbers],
                         dtype=torch.float64)
    result = shard.to(torch.float64)
    tile = 0
    for begin, columns in matrices(len(shard)):
        end = begin + ROWS * columns
        matrix = result[begin:end].reshape(ROWS, columns).clone()
        for first in range(0, columns, TILE_COLUMNS):
            word = _splitmix64(_splitmix64(seed, 0), tile)
            for k in numbers:
                if word >> k & 1:
                    matrix[k, first:first + TILE_COLUMNS] *= -1
            tile += 1
        result[begin:end] = (signs @ matrix / 8).reshape(-1)
    return result
