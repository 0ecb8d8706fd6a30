# SPDX-License-Identifier: Apache-2.0
"""Small data sets in the formats of the real ones."""
import gzip
import os
import random
import struct

_SIDE = 28


def write_idx(path: str, dimensions: tuple[int, ...], elements: bytes,
              kind: int = 8) -> None:
    with gzip.open(path, "wb") as file:
        file.write(bytes((0, 0, kind, len(dimensions))))
        file.write(struct.pack(f">{len(dimensions)}I", *dimensions))
        file.write(elements)


def write_images(folder: str, training: int, test: int) -> None:
    """Writes MNIST's four files. An image's class is its brightness."""
    chance = random.Random(1)
    for part, count in (("train", training), ("t10k", test)):
        classes = bytes(chance.randrange(10) for _ in range(count))
        images = b"".join(
            bytes(20 * own + chance.randrange(20) for _ in range(_SIDE ** 2))
            for own in classes)
        write_idx(os.path.join(folder, f"{part}-images-idx3-ubyte.gz"),
                  (count, _SIDE, _SIDE), images)
        write_idx(os.path.join(folder, f"{part}-labels-idx1-ubyte.gz"),
                  (count,), classes)


def write_text(path: str, characters: int) -> None:
    chance = random.Random(1)
    words = ["in", "the", "beginning", "was", "a", "word", "\n"]
    text = ""
    while len(text) < characters:
        text += chance.choice(words) + " "
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
