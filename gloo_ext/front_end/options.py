# SPDX-License-Identifier: Apache-2.0
"""Types and checks of command line options, with helpful errors."""
from __future__ import annotations

import argparse
import difflib
import math
import os
import re
from collections.abc import Callable, Collection


def positive(kind: type) -> Callable[[str], int | float]:
    """A `type` for argparse: an int, or a float, above 0."""
    def parse(text: str) -> int | float:
        try:
            value = kind(text)
        except ValueError:
            value = 0
        if not 0 < value < math.inf:
            raise argparse.ArgumentTypeError(
                f"'{text}' has to be a number above 0")
        return value
    return parse


def between(least: int, most: int, what: str) -> Callable[[str], int]:
    """A `type` for argparse: a whole number from `least` to `most`. `what`
    names it, with its article."""
    def parse(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(
                f"'{text}' has to be {what} from {least} to {most}")
        return int(text)
    return parse


def size_in_bytes(text: str) -> int:
    """A `type` for argparse: a number of bytes, such as 8, 4K, 128M or 1G."""
    match = re.fullmatch(r"(\d+)(?:([KMG])(?:iB|B)?)?", text,
                         re.IGNORECASE)
    if match is None or int(match[1]) == 0:
        raise argparse.ArgumentTypeError(
            f"'{text}' has to be a size, such as 4096, 4K, 128M or 1G")
    return int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[
        (match[2] or "").upper()]


def at_least(least: float, otherwise: str) -> Callable[[str], float]:
    """A `type` for argparse: a finite number of at least `least`. For other
    texts the error is the text followed by `otherwise`."""
    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value < math.inf:
            raise argparse.ArgumentTypeError(f"'{text}'{otherwise}")
        return value
    return parse


def one_of(known: Collection[str]) -> Callable[[str], str]:
    """A `type` for argparse: one of these names."""
    def parse(text: str) -> str:
        if text not in known:
            raise argparse.ArgumentTypeError(unknown(text, known))
        return text
    return parse


def list_of(parse_one: Callable[[str], object],
            what: str) -> Callable[[str], tuple]:
    """A `type` for argparse: comma-separated values, each given once. `what`
    is a word for one value."""
    def parse(text: str) -> tuple:
        values = tuple(parse_one(word) for word in text.split(","))
        if len(set(values)) != len(values):
            raise argparse.ArgumentTypeError(f"name each {what} only once")
        return values
    return parse


def picture(text: str) -> str:
    """A `type` for argparse: the name of a picture to write."""
    if not text.endswith(".png"):
        raise argparse.ArgumentTypeError(
            f"'{text}' does not end in .png, the format it is written in")
    return text


def check_writable(parser: argparse.ArgumentParser, option: str,
                   path: str) -> None:
    """Ends the process if no file can be written at `path`."""
    existed = os.path.exists(path)
    try:
        with open(path, "ab"):  # changes nothing in a file
            pass
    except OSError as error:
        parser.error(f"{option}: cannot write '{path}' "
                     f"({error.strerror.lower()}); name a file elsewhere")
    if not existed:
        os.remove(path)


def unknown(name: str, known: Collection[str]) -> str:
    """An error text: `name` is unknown, the closest name, and all names."""
    close = difflib.get_close_matches(name, known, 1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    return f"there is no '{name}'{hint}. There are: {', '.join(known)}"
