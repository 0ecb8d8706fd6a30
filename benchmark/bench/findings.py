# SPDX-License-Identifier: Apache-2.0
"""Results of a command. They are kept if the command ends early."""
import contextlib
import os
import signal
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
    except BaseException:
        if found:
            print(f"not complete: {len(found)} of {wanted} {what}",
                  file=sys.stderr)
            with _undisturbed():
                try:
                    show()
                except UserError as error:
                    print(f"error: {error}", file=sys.stderr)
        raise
    show()


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Ignores requests to end, because this process already does."""
    before = {number: signal.signal(number, signal.SIG_IGN)
              for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def writing(option: str, path: str) -> Iterator[str]:
    """Around the writing of a file, to the path that this yields. Replaces an
    old file in one step, at the end. Raises UserError that names the option."""
    path = os.path.realpath(path)
    replaces = os.path.isfile(path) or not os.path.exists(path)
    root, extension = os.path.splitext(path)
    place = f"{root}.new{extension}" if replaces else path
    try:
        yield place
        if replaces:
            os.replace(place, path)
    except OSError as error:
        why = (os.strerror(error.errno) if error.errno else str(error)).lower()
        raise UserError(f"{option}: cannot write '{path}' ({why})") from error
    finally:
        if replaces:
            with contextlib.suppress(OSError):
                os.remove(place)
