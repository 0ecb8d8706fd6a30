# SPDX-License-Identifier: Apache-2.0
"""How commands end."""
import os
import subprocess
import sys
import unittest

from tests import junit_main

# Writes more than fits into any buffer.
SCRIPT = """\
import sys

from front_end.commands import run_command
from front_end.errors import UserError


def main(argv):
    if argv == ["wrong"]:
        raise UserError("it is wrong", 2)
    if argv == ["file"]:
        with open("/dev/full", "w") as file:
            file.write("x" * 1000000)
    print("x" * 1000000)
    return 0


sys.exit(run_command(main, sys.argv[1:]))
"""


def run(output, *argv):
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, *argv], stdout=output,
        env={"PYTHONPATH": os.pathsep.join(sys.path)}, stderr=subprocess.PIPE,
        text=True, check=False)


class Commands(unittest.TestCase):
    def test_an_error_of_the_user_is_one_line(self):
        done = run(subprocess.PIPE, "wrong")
        self.assertEqual((2, "error: it is wrong\n"),
                         (done.returncode, done.stderr))

    def test_a_full_disk_is_named(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = run(full)
        self.assertEqual(
            (1, "error: standard output: No space left on device\n"),
            (done.returncode, done.stderr))

    def test_nobody_reads_the_output_any_more(self):
        reader, writer = os.pipe()
        os.close(reader)
        with open(writer, "w", encoding="utf-8") as pipe:
            done = run(pipe)
        self.assertEqual((1, ""), (done.returncode, done.stderr))

    def test_a_fault_of_ours_is_told_in_full(self):
        done = run(subprocess.PIPE, "file")
        self.assertIn("Traceback", done.stderr)
        self.assertNotIn("standard output", done.stderr)


if __name__ == "__main__":
    junit_main.main()
