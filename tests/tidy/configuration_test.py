# SPDX-License-Identifier: Apache-2.0
"""docs/configuration.md and the code have the same variables."""
import re
import unittest

from tests import junit_main
from tests.tidy import workspace

_PAGE = "docs/configuration.md"
_COLUMNS = 5  # variable, meaning, allowed, default, example


def _rows():
    """Yields (line number, cells) of the page's tables of variables."""
    for number, line in enumerate(workspace.lines(_PAGE), 1):
        if line.startswith("| `GLOO_UBT_"):
            yield number, [cell.strip() for cell in line.split("|")[1:-1]]


def _read_in_code():
    """Maps each variable that is a whole string to a file with it."""
    found = {}
    for path in workspace.files():
        if path.endswith((".h", ".cc")) and not path.startswith("tests/"):
            for name in re.findall(r'"(GLOO_UBT_[A-Z0-9_]*[A-Z0-9])"',
                                   "\n".join(workspace.lines(path))):
                found.setdefault(name, path)
    return found


class ConfigurationTest(unittest.TestCase):
    def test_code_reads_variables(self):
        self.assertEqual(_read_in_code()["GLOO_UBT_REPAIR"],
                         "transport_ubt/config/settings.cc")

    def test_every_variable_is_documented(self):
        documented = {cells[0].strip("`") for _, cells in _rows()}
        for name, path in sorted(_read_in_code().items()):
            self.assertIn(name, documented,
                          f"{path} reads {name}; add a row to {_PAGE}")

    def test_every_documented_variable_exists(self):
        read = _read_in_code()
        for number, cells in _rows():
            self.assertIn(cells[0].strip("`"), read,
                          f"{_PAGE}:{number}: nothing reads it; remove it")

    def test_rows_are_whole_and_unique(self):
        names = [cells[0] for _, cells in _rows()]
        self.assertEqual(sorted(names), sorted(set(names)))
        for number, cells in _rows():
            self.assertEqual(len(cells), _COLUMNS, f"{_PAGE}:{number}")
            self.assertTrue(all(cells), f"{_PAGE}:{number}: an empty cell")


if __name__ == "__main__":
    junit_main.main()
