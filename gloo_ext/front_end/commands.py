# SPDX-License-Identifier: Apache-2.0
"""How every command ends."""
import signal
import sys
from collections.abc import Callable, Sequence

from .errors import EXIT_INTERRUPTED, UserError


def run_command(run: Callable[[Sequence[str]], int],
                argv: Sequence[str]) -> int:
    """Returns `run`'s exit code, or says what went wrong and returns that
    error's."""
    # So that everything is cleaned up, also when a launcher ends us.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return run(argv)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted; all processes have been ended", file=sys.stderr)
        return EXIT_INTERRUPTED
