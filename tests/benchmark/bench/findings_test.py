# SPDX-License-Identifier: Apache-2.0
"""Nothing that was measured gets lost."""
import contextlib
import io
import unittest

from bench import findings
from front_end.errors import UserError
from tests import junit_main


class Shown(unittest.TestCase):
    def run_with(self, *found, error=None):
        """Measures `found`, then fails. Returns what was shown, and the words
        on standard error."""
        rows, shown, err = [], [], io.StringIO()
        caught = (contextlib.nullcontext() if error is None
                  else self.assertRaises(type(error)))
        with caught, contextlib.redirect_stderr(err), findings.shown(
                rows, 3, "rows", lambda: shown.append(list(rows))):
            rows.extend(found)
            if error is not None:
                raise error
        return shown, err.getvalue()

    def test_all(self):
        self.assertEqual(([[1, 2, 3]], ""), self.run_with(1, 2, 3))

    def test_what_there_is_when_it_ends_early(self):
        for error in KeyboardInterrupt(), UserError("rank 1 failed"):
            self.assertEqual(([[1, 2]], "not complete: 2 of 3 rows\n"),
                             self.run_with(1, 2, error=error))

    def test_nothing_if_there_is_nothing(self):
        self.assertEqual(([], ""), self.run_with(error=KeyboardInterrupt()))

    def test_a_mistake_in_the_program_stays_one(self):
        self.assertEqual(([], ""), self.run_with(1, error=KeyError()))


class Writing(unittest.TestCase):
    def test_a_full_disk_is_named(self):
        with self.assertRaisesRegex(
                UserError, "^--json: cannot write '/dev/full' [(]no space left "
                "on device[)]; the rows are above$"):
            with findings.writing("--json", "/dev/full"), \
                    open("/dev/full", "w", encoding="utf-8") as file:
                file.write("x")


if __name__ == "__main__":
    junit_main.main()
