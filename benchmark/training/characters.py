# SPDX-License-Identifier: Apache-2.0
"""A text, as numbers of its characters."""
import dataclasses

MAX_CHARACTERS = 256  # one byte each


@dataclasses.dataclass(frozen=True)
class Text:
    alphabet: str  # a character's number is its place here
    training: bytes
    held_out: bytes  # the text's end, for tests


def split(text: str, held_out: float = 0.05, alphabet: str = "") -> Text:
    """Holds out the fraction `held_out` of `text`. The characters are those of
    `alphabet` or, if it is empty, of `text`. Raises ValueError for others."""
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
    """See split(). Raises OSError if the file cannot be read, ValueError if it
    is not text."""
    with open(path, encoding="utf-8") as file:
        return split(file.read(), alphabet=alphabet)
