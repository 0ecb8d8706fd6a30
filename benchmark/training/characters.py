# SPDX-License-Identifier: Apache-2.0
"""A text, as numbers of its characters."""
import dataclasses

MAX_CHARACTERS = 256  # one byte each


@dataclasses.dataclass(frozen=True)
class Text:
    alphabet: str  # a character's number is its place here
    training: bytes
    held_out: bytes  # the text's end, for tests


def split(text: str, held_out: float = 0.05) -> Text:
    """Holds out the fraction `held_out` of `text`. Raises ValueError if it has
    too many different characters."""
    alphabet = "".join(sorted(set(text)))
    if len(alphabet) > MAX_CHARACTERS:
        raise ValueError(f"the text has {len(alphabet)} different characters; "
                         f"at most {MAX_CHARACTERS} are possible")
    numbers = text.translate({
        ord(character): i for i, character in enumerate(alphabet)})
    numbers = numbers.encode("latin-1")
    middle = len(numbers) - round(len(numbers) * held_out)
    return Text(alphabet, numbers[:middle], numbers[middle:])


def read(path: str) -> Text:
    """See split(). Raises OSError if the file cannot be read, ValueError if it
    is not text."""
    with open(path, encoding="utf-8") as file:
        return split(file.read())
