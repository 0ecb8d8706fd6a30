# SPDX-License-Identifier: Apache-2.0
"""Other processes, as tests see them."""
import os


def is_alive(pid):
    """Whether the process exists. A zombie does."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
