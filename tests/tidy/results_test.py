# SPDX-License-Identifier: Apache-2.0
"""README has no measurements of its own: its figures are the report's."""
import os
import re
import unittest

from tests import junit_main
from tests.tidy import workspace

_REPORT = "docs/results/"  # its pages
_RESULTS_BYTES_MAX = 1_500_000
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def _numbers(lines):
    """The set of numbers in the text, without thousands separators."""
    found = _NUMBER.findall("\n".join(lines))
    return {number.replace(",", "") for number in found}


def _cells(line):
    """The cells of a table's row."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _section(path, title):
    """Yields (line number, line) of a section with a heading of level two."""
    inside = False
    for number, line in enumerate(workspace.lines(path), 1):
        if line.startswith("## "):
            inside = line == f"## {title}"
        elif inside:
            yield number, line


def _report_lines():
    """The lines of all pages of the report."""
    return [line for path in workspace.files()
            if path.startswith(_REPORT) and path.endswith(".md")
            for line in workspace.lines(path)]


class ResultsTest(unittest.TestCase):
    def test_numbers_of_readme_are_in_the_report(self):
        known = _numbers(_report_lines())
        measured = list(_section("README.md", "Measured"))
        self.assertTrue(measured, "README has no section Measured")
        for number, line in measured:
            self.assertEqual(
                _numbers([line]) - known, set(),
                f"README.md:{number}: take them from a row of {_REPORT}")

    def test_cells_of_readme_are_of_one_row_of_the_report(self):
        """A cell's figures are from one of the report's rows of the algorithm
        that heads its column. Does not check which of its rows and columns."""
        rows = {}
        for line in _report_lines():
            if line.startswith("| "):
                first, *cells = _cells(line)
                rows.setdefault(first, []).append(_numbers(cells))
        checked = 0
        algorithms = []
        for number, line in _section("README.md", "Measured"):
            if not line.startswith("| "):
                algorithms = algorithms if line.startswith("|--") else []
                continue
            cells = _cells(line)[1:]
            if not algorithms:
                algorithms = [cell.strip("`") for cell in cells]
                continue
            for algorithm, cell in zip(algorithms, cells, strict=True):
                self.assertTrue(_numbers([cell]), f"README.md:{number}")
                self.assertTrue(
                    any(_numbers([cell]) <= row
                        for row in rows.get(algorithm, ())),
                    f"README.md:{number}: no row of {algorithm} in "
                    f"{_REPORT} has {cell}")
                checked += 1
        self.assertGreater(checked, 0)

    def test_links_of_the_report_lead_to_files(self):
        folder = os.path.join(workspace.root(), _REPORT)
        text = "\n".join(_report_lines())
        links = set(re.findall(r"\]\(((?:raw/|pictures/|[a-z-]+\.md)[^)]*)\)",
                               text))
        self.assertTrue(links)
        for link in sorted(links):
            self.assertTrue(os.path.exists(os.path.join(folder, link)), link)

    def test_results_stay_small(self):
        size = sum(os.path.getsize(os.path.join(workspace.root(), path))
                   for path in workspace.files() if path.startswith(_REPORT))
        self.assertLess(size, _RESULTS_BYTES_MAX)


if __name__ == "__main__":
    junit_main.main()
