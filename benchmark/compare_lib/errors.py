# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, as the exit code says it."""

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_UNSOUND = 3  # a row is wrong, or not what it says; as the worker's own
EXIT_INTERRUPTED = 130


class CompareError(Exception):
    """An error for the user: names the culprit and the remedy."""

    def __init__(self, message, exit_code=EXIT_FAILED):
        super().__init__(message)
        self.exit_code = exit_code
