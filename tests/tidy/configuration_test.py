# SPDX-License-Identifier: Apache-2.0
"""docs/configuration.md shows the table of settings, and nothing but the table
reads GLOO_UBT_* variables."""
import re
import subprocess
import sys
import unittest

from front_end.arguments import REPAIRS
from tests import junit_main
from tests.tidy import workspace

_PAGE = "docs/configuration.md"
_TABLE = "transport_ubt/config/"


class ConfigurationTest(unittest.TestCase):
    def test_page_shows_the_table(self):
        tables = subprocess.run([sys.argv[1]], capture_output=True, text=True,
                                check=True).stdout
        rows = [line for line in tables.splitlines() if line]
        self.assertIn("| `GLOO_UBT_REPAIR` ", "".join(rows))
        self.assertEqual(
            rows, [line for line in workspace.lines(_PAGE) if line in rows],
            "write the page: bazel run //transport_ubt/config:page -- "
            f"$PWD/{_PAGE}")

    def test_page_has_no_other_variables(self):
        named = set(re.findall(r"GLOO_UBT_[A-Z_]*[A-Z]",
                               "\n".join(workspace.lines(_PAGE))))
        rows = {line.split("`")[1] for line in workspace.lines(_PAGE)
                if line.startswith("| `GLOO_UBT_")}
        self.assertEqual(set(), named - rows)

    def test_ubtrun_knows_the_policies(self):
        self.assertIn(f"| `GLOO_UBT_REPAIR` | {', '.join(REPAIRS)} |",
                      "\n".join(workspace.lines(_PAGE)))

    def test_only_the_table_reads_the_environment(self):
        for path in workspace.files():
            if not path.endswith((".h", ".cc")) or path.startswith("tests/"):
                continue
            for line in workspace.lines(path):
                if not path.startswith(_TABLE):
                    self.assertNotRegex(line, r'getenv\("GLOO_UBT_', path)


if __name__ == "__main__":
    junit_main.main()
