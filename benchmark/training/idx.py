# SPDX-License-Identifier: Apache-2.0
"""Reads idx files, the format of MNIST and of its successors.

Two zero bytes, a byte for the type (8: unsigned bytes), a byte for the number
of dimensions, each dimension as a big-endian uint32, then the elements, with
the last dimension fastest.
"""
import gzip
import math
import struct

_UNSIGNED_BYTE = 8


def read(path: str) -> tuple[tuple[int, ...], bytes]:
    """Returns the dimensions and the elements of a gzipped file of bytes.

    Raises OSError if it cannot be read, ValueError for another format.
    """
    with gzip.open(path, "rb") as file:
        head = file.read(4)
        if len(head) < 4 or head[:2] != b"\0\0":
            raise ValueError(f"{path} is no idx file")
        if head[2] != _UNSIGNED_BYTE:
            raise ValueError(f"{path} has elements of type {head[2]}; only "
                             f"unsigned bytes, {_UNSIGNED_BYTE}, are read")
        sizes = file.read(4 * head[3])
        if len(sizes) < 4 * head[3]:
            raise ValueError(f"{path} ends within its dimensions")
        dimensions = struct.unpack(f">{head[3]}I", sizes)
        elements = file.read()
    if len(elements) != math.prod(dimensions):
        raise ValueError(f"{path} has {len(elements)} elements, not the "
                         f"{math.prod(dimensions)} of its dimensions")
    return dimensions, elements
