# SPDX-License-Identifier: Apache-2.0
"""Error handling and exit codes that all commands share."""
import signal
import sys
from collections.abc import Callable, Sequence

from .errors import EXIT_INTERRUPTED, UserError


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
        return run(argv)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted; all processes have been ended", file=sys.stderr)
        return EXIT_INTERRUPTED
