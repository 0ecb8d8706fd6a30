# SPDX-License-Identifier: Apache-2.0
"""Error handling and exit codes that all commands share."""
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .errors import EXIT_FAILED, EXIT_INTERRUPTED, UserError


class _Output:
    """Standard output. An error while it is written is told to the user."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with self._told():
            return self._stream.write(text)

    def flush(self) -> None:
        with self._told():
            self._stream.flush()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            # Python writes the rest at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
            if isinstance(error, BrokenPipeError):  # nobody reads it any more
                raise SystemExit(EXIT_FAILED) from error
            raise UserError(
                f"standard output: {error.strerror}") from error


def run_command(run: Callable[[Sequence[str]], int],
                argv: Sequence[str]) -> int:
    """Returns `run`'s exit code. After an error, prints it and returns the
    error's exit code."""
    # Cleans up everything, also when a launcher or a lost terminal ends this
    # process. Under nohup, a lost terminal does not.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.default_int_handler)
    try:
        with contextlib.redirect_stdout(_Output(sys.stdout)):
            code = run(argv)
            sys.stdout.flush()
        return code
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted; all processes have been ended", file=sys.stderr)
        return EXIT_INTERRUPTED
