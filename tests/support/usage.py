# SPDX-License-Identifier: Apache-2.0
"""Wrong command lines."""
import contextlib
import io

from front_end.errors import EXIT_USAGE


def error_of(parse, argv):
    """The error text for a wrong command line."""
    text = io.StringIO()
    try:
        with contextlib.redirect_stderr(text):
            parse(argv)
    except SystemExit as error:
        assert error.code == EXIT_USAGE
        return text.getvalue()
    raise AssertionError(f"{argv} was accepted")
