# SPDX-License-Identifier: Apache-2.0
"""Style rules that a program can check cheaply, over every file."""
import os
import re
import subprocess
import unittest

from tests import junit_main
from tests.tidy import workspace

_COLUMNS_MAX = 80
_CLANG_FORMAT = "clang-format"

# A sleep waits too long or not long enough. Allowed only to poll for something
# that cannot wake the waiter, each with its reason.
_MAY_SLEEP = {
    "benchmark/comparison/comparison.cc": "a rank that is to be late",
    "gloo_ext/bounded_contexts.cc": "in _exit(), which may take no lock",
    "rendezvous/redis_socket.cc": "a full backlog of a unix socket is polled",
    "rendezvous/redis_stream.cc": "between two tries to reach Redis",
    "tests/gloo_ext/drop_in_rank.cc": "until another process makes a file",
    "tests/support/child_process.cc": "waitpid has no time-out",
    "tests/support/random_yields.cc": "so that other threads get ahead",
    "tests/support/redis_server.cc": "until the server takes connections",
    "tests/rendezvous/roster_test.cc": "a process that comes late",
}
_SLEEP = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep)\s*\(")

# What makes the clang-tidy tests of a package.
_TIDIES = re.compile(r"^(tidy_tests|core_room|room_tests)\(", re.MULTILINE)

# Written by benchmark/experiments, not by hand.
_GENERATED = "docs/results/"

# The target of a link, because it cannot be split.
_LINK = re.compile(r"\]\([^)]*\)|https?://\S+")


def _is_cpp(path):
    return path.endswith((".h", ".cc"))


def _prose(lines):
    """Yields (number, line) of Markdown, without code, tables and links."""
    fenced = False
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith(("    ", "|")):
            yield number, _LINK.sub("", line)


def _is_source(path):
    """Written by hand, in a language with comments."""
    name = os.path.basename(path)
    if _is_cpp(path) or name.endswith((".py", ".bzl", ".sh", ".bazel")):
        return True
    if name in ("BUILD", "WORKSPACE"):
        return os.path.getsize(os.path.join(workspace.root(), path)) > 0
    if "." in name or name == "LICENSE":
        return False
    return workspace.lines(path)[0].startswith("#!")


class FormatTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sources = [path for path in workspace.files() if _is_source(path)]
        cls.cpp = [path for path in cls.sources if _is_cpp(path)]

    def setUp(self):
        self.problems = []

    def tearDown(self):
        if self.problems:
            self.fail("\n" + "\n".join(self.problems))

    def _problem(self, path, line, what, remedy):
        self.problems.append(f"{path}:{line}: {what}; {remedy}")

    def _each_line(self, paths):
        for path in paths:
            for number, line in enumerate(workspace.lines(path), 1):
                yield path, number, line

    def test_finds_the_workspace(self):
        self.assertGreater(len(self.cpp), 100)
        self.assertIn("tests/tidy/format_test.py", self.sources)
        self.assertIn("tests/run", self.sources)

    def test_layout(self):
        output = subprocess.run(
            [_CLANG_FORMAT, "--dry-run", "--style=file", *self.cpp],
            cwd=workspace.root(), stderr=subprocess.PIPE, text=True,
            check=False)
        if output.returncode != 0:
            self._problem(_CLANG_FORMAT, 0, output.stderr, "see above")
        for match in re.finditer(r"^(\S+?):(\d+):\d+: (?:warning|error):",
                                 output.stderr, re.MULTILINE):
            self._problem(match[1], match[2], "layout differs",
                          f"run: {_CLANG_FORMAT} -i {match[1]}")

    def test_licence(self):
        for path in self.sources:
            if not any("SPDX-License-Identifier: Apache-2.0" in line
                       for line in workspace.lines(path)[:3]):
                self._problem(path, 1, "no licence", "begin with a comment "
                              "SPDX-License-Identifier: Apache-2.0")

    def test_headers_are_read_once(self):
        # Highway's convention: an -inl.h is included for each instruction set.
        for path in self.cpp:
            if path.endswith("-inl.h"):
                continue
            if path.endswith(".h") and "#pragma once" not in workspace.lines(
                    path):
                self._problem(path, 2, "no include guard", "add #pragma once")

    def test_tabs_and_columns(self):
        for path, number, line in self._each_line(self.sources):
            if "\t" in line:
                self._problem(path, number, "tab", "indent with spaces")
            if line != line.rstrip():
                self._problem(path, number, "space at the end", "remove it")
            if _is_cpp(path) and len(line) > _COLUMNS_MAX:
                self._problem(path, number, f"{len(line)} columns",
                              f"break it at {_COLUMNS_MAX}")

    def test_prose_columns(self):
        for path in workspace.files():
            if not path.endswith(".md") or path.startswith(_GENERATED):
                continue
            for number, line in _prose(workspace.lines(path)):
                if len(line) > _COLUMNS_MAX:
                    self._problem(path, number, f"{len(line)} columns",
                                  f"break it at {_COLUMNS_MAX}")

    def test_nothing_sleeps(self):
        cpp = [path for path in self.cpp if path not in _MAY_SLEEP
               and not path.startswith("tests/integration/")]
        for path, number, line in self._each_line(cpp):
            if _SLEEP.search(line):
                self._problem(path, number, "sleeps", "wait for the event "
                              "itself, or name the file and why in _MAY_SLEEP")

    def test_every_package_is_tidied(self):
        for path in self.sources:
            if os.path.basename(path) != "BUILD.bazel":
                continue
            text = "\n".join(workspace.lines(path))
            own = re.search(r"^\[?(cc_|fuzz_target)\w*\(\n(?:.*\n)*?.*\.cc\"",
                            text, re.MULTILINE)
            if own and not _TIDIES.search(text):
                self._problem(path, 1, "clang-tidy never sees this package",
                              "load tidy_tests, and call it at the end")


if __name__ == "__main__":
    junit_main.main()
