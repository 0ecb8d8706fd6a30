# SPDX-License-Identifier: Apache-2.0
"""Errors and their exit codes."""
from front_end.errors import (
    EXIT_FAILED, EXIT_USAGE, UserError as CompareError)

EXIT_UNSOUND = 3  # a row is wrong or not as named; as the worker's
