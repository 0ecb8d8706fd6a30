# SPDX-License-Identifier: Apache-2.0
"""What a command has found: shown, and kept if the command ends early."""
import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sized

from front_end.errors import UserError


@contextlib.contextmanager
def shown(found: Sized, wanted: int, what: str,
          show: Callable[[], None]) -> Iterator[None]:
    """Around a measurement that appends to `found`: calls `show` at the end.
    If an error or Ctrl-C ends the measurement earlier, shows what has been
    found until then, and says that some of the `wanted` are missing. `what`
    names them."""
    try:
        yield
    except (KeyboardInterrupt, UserError):
        if found:
            show()
            print(f"not complete: {len(found)} of {wanted} {what}",
                  file=sys.stderr)
        raise
    show()


@contextlib.contextmanager
def writing(option: str, path: str) -> Iterator[None]:
    """Around the writing of a file, after its rows have been shown. An error
    names the option, and ends the command without a traceback."""
    try:
        yield
    except OSError as error:
        why = (os.strerror(error.errno) if error.errno else str(error)).lower()
        raise UserError(f"{option}: cannot write '{path}' ({why}); the rows "
                        "are above") from error
