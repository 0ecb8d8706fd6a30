# SPDX-License-Identifier: Apache-2.0
"""A text, as numbers of its characters."""
import dataclasses

MAX_CHARACTERS = 256  # a byte each


@dataclasses.dataclass(frozen=True)
class Text:
    alphabet: str  # a character's number is its place here
    training: bytes
    held_out: bytes  # the text's end, to test on


def split(text: str, held_out: float = 0.05, alphabet: str = "") -> Text:
    """Holds out that fraction of `text`. Its characters are those of
    `alphabet`, or, if there is none, all that it has. Raises ValueError for
    strange ones."""
    own = "".join(sorted(set(text)))
    strange = "".join(sorted(set(own) - set(alphabet)))
    if alphabet and strange:
        raise ValueError(
            f"the text has characters that the weights to start from have not "
            f"seen: {strange[:20]!r}; leave them out of it")
    alphabet = alphabet or own
    if len(alphabet) > MAX_CHARACTERS:
        raise ValueError(f"the text has {len(alphabet)} different characters; "
                         f"at most {MAX_CHARACTERS} are possible")
    numbers = text.translate({
        ord(character): i for i, character in enumerate(alphabet)})
    numbers = numbers.encode("latin-1")
    middle = len(numbers) - round(len(numbers) * held_out)
    return Text(alphabet, numbers[:middle], numbers[middle:])


def read(path: str, alphabet: str = "") -> Text:
    """See split(). Raises OSError where it cannot be read, ValueError where it
    is no text."""
    with open(path, encoding="utf-8") as file:
        return split(file.read(), alphabet=alphabet)
