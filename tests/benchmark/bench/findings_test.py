# SPDX-License-Identifier: Apache-2.0
"""Nothing that was measured gets lost."""
import contextlib
import io
import os
import signal
import tempfile
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
        for error in KeyboardInterrupt(), UserError("dead"), KeyError("bug"):
            self.assertEqual(([[1, 2]], "not complete: 2 of 3 rows\n"),
                             self.run_with(1, 2, error=error))

    def test_nothing_if_there_is_nothing(self):
        self.assertEqual(([], ""), self.run_with(error=KeyboardInterrupt()))

    def test_the_first_error_counts_if_the_disk_is_full_too(self):
        def show():
            raise UserError("disk full")

        err = io.StringIO()
        with self.assertRaises(KeyboardInterrupt), \
                contextlib.redirect_stderr(err), \
                findings.shown([1], 3, "rows", show):
            raise KeyboardInterrupt
        self.assertEqual("not complete: 1 of 3 rows\nerror: disk full\n",
                         err.getvalue())

    def test_a_second_ctrl_c_does_not_disturb(self):
        ended = []

        def show():
            os.kill(os.getpid(), signal.SIGINT)
            ended.append(True)

        with self.assertRaises(UserError), contextlib.redirect_stderr(
                io.StringIO()), findings.shown([1], 3, "rows", show):
            raise UserError("rank 1 failed")
        self.assertEqual([True], ended)
        self.assertNotEqual(signal.SIG_IGN, signal.getsignal(signal.SIGINT))


class Writing(unittest.TestCase):
    def write(self, path, text, error=None):
        with findings.writing("--json", path) as place, open(
                place, "w", encoding="utf-8") as file:
            file.write(text)
            if error is not None:
                raise error

    def test_a_full_disk_is_named(self):
        with self.assertRaisesRegex(
                UserError, "^--json: cannot write '/dev/full' [(]no space left "
                "on device[)]$"):
            self.write("/dev/full", "x")

    def test_an_old_file_stays_until_the_new_one_is_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.json")
            self.write(path, "old")
            for error, caught in ((OSError(28, ""), UserError),
                                  (KeyboardInterrupt(), KeyboardInterrupt)):
                with self.assertRaises(caught):
                    self.write(path, "new", error)
                with open(path, encoding="utf-8") as file:
                    self.assertEqual("old", file.read())
            self.write(path, "new")
            with open(path, encoding="utf-8") as file:
                self.assertEqual("new", file.read())
            self.assertEqual(["rows.json"], os.listdir(folder))


if __name__ == "__main__":
    junit_main.main()
