# SPDX-License-Identifier: Apache-2.0
"""Waits are measured by monotonic clocks, because other clocks jump."""
import re
import unittest

from tests import junit_main
from tests.tidy import workspace

# Times that only people read, and where.
_MAY_JUMP = {
    "transport_ubt/io/steady_now.h": "the times of day in traces",
    "transport_ubt/io/warning.cc": "the time of day of a warning",
}

_JUMPS = re.compile(r"system_clock|CLOCK_REALTIME|gettimeofday"
                    r"|high_resolution_clock|\btime\((?:0|NULL|nullptr)\)")


class ClockTest(unittest.TestCase):
    def test_no_code_waits_by_a_clock_that_jumps(self):
        for path in workspace.files():
            if path.endswith((".h", ".cc")) and path not in _MAY_JUMP:
                for number, line in enumerate(workspace.lines(path), 1):
                    self.assertNotRegex(line, _JUMPS, f"{path}:{number}")


if __name__ == "__main__":
    junit_main.main()
