# SPDX-License-Identifier: Apache-2.0
"""Waits for events in other processes, by polling."""
import time


def wait_for(condition, limit_s):
    """Calls `condition` until its result is true. Returns that result."""
    deadline = time.monotonic() + limit_s
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError("waited in vain")
        time.sleep(0.05)
    return found
