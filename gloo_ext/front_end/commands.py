# SPDX-License-Identifier: Apache-2.0
"""Error handling and exit codes that all commands share."""
import errno
import os
import signal
import sys
from collections.abc import Callable, Sequence

from .errors import EXIT_FAILED, EXIT_INTERRUPTED, UserError


# Of a file or a pipe that takes no more.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EPIPE)


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
        code = run(argv)
        sys.stdout.flush()
        return code
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted; all processes have been ended", file=sys.stderr)
        return EXIT_INTERRUPTED
    except OSError as error:
        # Those who write files name them.
        if error.filename is not None or error.errno not in _FULL:
            raise
        # Python would write the rest at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno != errno.EPIPE:  # otherwise its reader wants no more
            print(f"error: standard output: {error.strerror}",
                  file=sys.stderr)
        return EXIT_FAILED
