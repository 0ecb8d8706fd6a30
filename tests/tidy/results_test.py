# SPDX-License-Identifier: Apache-2.0
"""README measures nothing of its own: its figures are the report's."""
import os
import re
import unittest

from tests import junit_main
from tests.tidy import workspace

_REPORT = "docs/results/README.md"
_RESULTS_BYTES_MAX = 10_000_000
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def _numbers(lines):
    """The set of numbers in the text, thousands not set apart."""
    found = _NUMBER.findall("\n".join(lines))
    return {number.replace(",", "") for number in found}


def _section(path, title):
    """Yields (line number, line) of a section of second rank."""
    inside = False
    for number, line in enumerate(workspace.lines(path), 1):
        if line.startswith("## "):
            inside = line == f"## {title}"
        elif inside:
            yield number, line


class ResultsTest(unittest.TestCase):
    def test_numbers_of_readme_are_in_the_report(self):
        known = _numbers(workspace.lines(_REPORT))
        measured = list(_section("README.md", "Measured"))
        self.assertTrue(measured, "README has no section Measured")
        for number, line in measured:
            self.assertEqual(
                _numbers([line]) - known, set(),
                f"README.md:{number}: take them from a row of {_REPORT}")

    def test_what_the_report_links_to_is_there(self):
        folder = os.path.join(workspace.root(), os.path.dirname(_REPORT))
        text = "\n".join(workspace.lines(_REPORT))
        links = set(re.findall(r"\]\(((?:raw|pictures)/[^)]+)\)", text))
        self.assertTrue(links)
        for link in sorted(links):
            self.assertTrue(os.path.exists(os.path.join(folder, link)), link)

    def test_results_stay_small(self):
        folder = os.path.join(workspace.root(), os.path.dirname(_REPORT))
        size = sum(os.path.getsize(os.path.join(top, name))
                   for top, _, names in os.walk(folder) for name in names)
        self.assertLess(size, _RESULTS_BYTES_MAX)


if __name__ == "__main__":
    junit_main.main()
