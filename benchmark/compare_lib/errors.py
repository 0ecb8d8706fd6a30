# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, as the exit code says it."""
from front_end.errors import (
    EXIT_FAILED, EXIT_USAGE, UserError as CompareError)

EXIT_UNSOUND = 3  # a row is wrong, or not what it says; as the worker's own
