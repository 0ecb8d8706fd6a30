# SPDX-License-Identifier: Apache-2.0
"""Waits for what other processes do, of which nothing tells us."""
import time


def wait_for(condition, limit_s):
    """Returns what the condition does as soon as that is true."""
    deadline = time.monotonic() + limit_s
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError("waited in vain")
        time.sleep(0.05)
    return found
