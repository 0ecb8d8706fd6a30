# SPDX-License-Identifier: Apache-2.0
"""python -m gloo_ubt settings, from the library that was built."""
import contextlib
import io
import os
import subprocess
import tempfile
import unittest
from unittest import mock

import front_end.arguments
import front_end.program
from gloo_ubt import settings
from tests import junit_main

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.join(os.path.dirname(os.path.dirname(HERE)), "gloo_ext",
                       "libgloo_ubt.so")


class Settings(unittest.TestCase):
    def setUp(self):
        for patch in (
                mock.patch.object(settings, "preload_path", lambda: LIBRARY),
                # Where the wheel has it.
                mock.patch.dict("sys.modules", {
                    "gloo_ubt.front_end": front_end,
                    "gloo_ubt.front_end.arguments": front_end.arguments,
                    "gloo_ubt.front_end.program": front_end.program})):
            patch.start()
            self.addCleanup(patch.stop)

    def said(self, *argv):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = settings.main(argv)
            except SystemExit as end:
                code = end.code
        return code, out.getvalue(), err.getvalue()

    def test_shows_every_variable(self):
        code, out, _ = self.said()
        self.assertEqual(0, code)
        self.assertIn("GLOO_UBT_REPAIR\n    none, broadcast, both (default: "
                      "broadcast)\n    The missing data", out)
        self.assertIn("\ngso\n", out)
        self.assertLessEqual(max(map(len, out.splitlines())), 80)

    def test_shows_those_about_a_word(self):
        code, out, _ = self.said("multicast")
        self.assertEqual(0, code)
        self.assertTrue(out.startswith("GLOO_UBT_MULTICAST\n"), out)
        self.assertNotIn("GLOO_UBT_REPAIR", out)
        code, _, err = self.said("xyzzy")
        self.assertEqual(2, code)
        self.assertIn("no setting is about xyzzy", err)

    def test_the_manual_page_is_one(self):
        code, out, _ = self.said("--man")
        self.assertEqual(0, code)
        page = subprocess.run(
            ["groff", "-man", "-Tascii", "-ww"], input=out, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        self.assertEqual("", page.stderr)
        self.assertIn("GLOO_UBT_CUT_BUDGET", page.stdout)

    def completed(self, *words):
        _, script, _ = self.said("--completion")
        with tempfile.NamedTemporaryFile("w", suffix=".bash") as file:
            file.write(script)
            file.flush()
            done = subprocess.run(
                ["bash", "-c", 'source "$0"; compopt() { :; }; '
                 'COMP_WORDS=("$@"); '
                 "COMP_CWORD=$(($# - 1)); _gloo_ubt; "
                 'printf "%s\\n" "${COMPREPLY[@]}"', file.name, *words],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                check=True)
        self.assertEqual("", done.stderr)
        return done.stdout.split()

    def test_bash_completes_commands_options_and_values(self):
        self.assertEqual(["top", "timeline"],
                         self.completed("gloo_ubt", "t"))
        self.assertEqual(["--repair", "--report"],
                         self.completed("gloo_ubt", "run", "--rep"))
        self.assertEqual(["broadcast", "both"],
                         self.completed("gloo_ubt", "run", "--repair", "b"))
        self.assertEqual(["ddp"],
                         self.completed("gloo_ubt", "run", "--bounded", "d"))
        self.assertEqual(["ring"],
                         self.completed("gloo_ubt", "env", "--algo", "ri"))
        self.assertEqual(["--help"], self.completed("gloo_ubt", "top", "--"))


if __name__ == "__main__":
    junit_main.main()
