# SPDX-License-Identifier: Apache-2.0
"""README's example is the one that is built here, and it runs."""
import re
import subprocess
import tempfile
import unittest

from tests import junit_main

_RANKS = 2
_STEPS = 30
_TIMEOUT_S = 50


def _text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class ExampleTest(unittest.TestCase):
    def test_readme_shows_it(self):
        source = _text("docs/example/allreduce.cc")
        shown = re.search(r"// README: begin\n(.*)// README: end", source,
                          re.DOTALL)[1]
        self.assertIn("```cpp\n" + shown + "```", _text("README.md"),
                      "copy what docs/example/allreduce.cc has between its "
                      "marks into README.md")

    def test_it_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            ranks = [
                subprocess.Popen(
                    ["docs/example/allreduce", str(rank), str(_RANKS), folder],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                for rank in range(_RANKS)]
            try:
                for rank in ranks:
                    out, err = rank.communicate(timeout=_TIMEOUT_S)
                    self.assertEqual(rank.returncode, 0, err)
                    self.assertEqual(len(out.splitlines()), _STEPS, out)
            finally:
                for rank in ranks:
                    rank.kill()
                    rank.wait()


if __name__ == "__main__":
    junit_main.main()
