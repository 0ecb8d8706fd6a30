# SPDX-License-Identifier: Apache-2.0
"""The files of the workspace itself, for tests that read all of them.

If a test listed every file as an input, each package would need a list.
Instead these tests are tagged "external" (always run, never cached) and follow
one runfile, the WORKSPACE, to its real place.
"""
import os

_NOT_OURS = {"__pycache__", "node_modules"}


def root():
    """The absolute path of the workspace."""
    link = os.path.join(os.environ["TEST_SRCDIR"],
                        os.environ["TEST_WORKSPACE"], "WORKSPACE")
    return os.path.dirname(os.path.realpath(link))


def files():
    """Yields each file's path in the workspace; hidden ones only of .ci."""
    top = root()
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(
            name for name in folders
            if name not in _NOT_OURS and not name.startswith("bazel-")
            and (name == ".ci" or not name.startswith(".")))
        for name in sorted(names):
            path = os.path.join(folder, name)
            if not name.startswith(".") and not os.path.islink(path):
                yield os.path.relpath(path, top)


def lines(path):
    """The lines of a file, without their ends."""
    with open(os.path.join(root(), path), encoding="utf-8") as file:
        return file.read().split("\n")
