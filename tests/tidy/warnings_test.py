# SPDX-License-Identifier: Apache-2.0
"""Libraries write whole lines. Streams would write a warning in pieces."""
import re
import unittest

from tests import junit_main
from tests.tidy import workspace

_LIBRARIES = ("algorithms/", "gloo_ext/", "rendezvous/", "transport_ubt/")
_PIECES = re.compile(r"\bcerr\b|\bclog\b|printf\(\s*stderr|puts\([^)]*stderr")
# Reports the place of a bug and ends the process.
_EXEMPT = "transport_ubt/core/base/require.h"


class WarningsTest(unittest.TestCase):
    def test_libraries_warn_through_one_helper(self):
        for path in workspace.files():
            if (path.startswith(_LIBRARIES) and path != _EXEMPT and
                    path.endswith((".h", ".cc"))):
                text = "\n".join(workspace.lines(path))
                self.assertNotRegex(
                    text, _PIECES, f"{path}: see transport_ubt/io/warning.h")


if __name__ == "__main__":
    junit_main.main()
