# SPDX-License-Identifier: Apache-2.0
"""Actions after imports, and the start-up code of ranks. A folder pretends to
be torch."""
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

import gloo_ubt
from gloo_ubt import imports
from tests import junit_main

PACKAGES = os.path.dirname(os.path.dirname(os.path.abspath(gloo_ubt.__file__)))
STARTUP = os.path.join(PACKAGES, "gloo_ubt", "startup")


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


class After(Folder):
    def setUp(self):
        super().setUp()
        sys.path.insert(0, self.folder)
        self.addCleanup(sys.path.remove, self.folder)
        self.addCleanup(sys.modules.pop, "a_module", None)
        self.addCleanup(sys.modules.pop, "a_module.inner", None)

    def test_it_acts_once_at_the_end_of_an_import(self):
        self.write("a_module.py", "value = 1\n")
        seen = []
        imports.after("a_module", lambda module: seen.append(module.value))
        self.assertEqual([], seen)
        import a_module  # noqa: F401
        self.assertEqual([1], seen)
        del sys.modules["a_module"]
        import a_module  # noqa: F401, F811
        self.assertEqual([1], seen)

    def test_a_look_up_before_the_import_changes_nothing(self):
        self.write("a_module.py", "value = 1\n")
        seen = []
        imports.after("a_module", lambda module: seen.append(module.value))
        for _ in range(2):
            spec = importlib.util.find_spec("a_module")
            self.assertTrue(spec.origin.endswith("a_module.py"))
            self.assertTrue(spec.loader.is_package("a_module") is False)
        import a_module  # noqa: F401
        self.assertEqual([1], seen)

    def test_the_module_is_as_without_it(self):
        self.write("a_module.py", "\n")
        finders = list(sys.meta_path)
        imports.after("a_module", lambda module: None)
        import a_module
        self.assertEqual("SourceFileLoader",
                         type(a_module.__loader__).__name__)
        self.assertIs(a_module.__loader__, a_module.__spec__.loader)
        self.assertEqual(finders, sys.meta_path)

    def test_an_imported_module_is_acted_on_at_once(self):
        seen = []
        imports.after("os", seen.append)
        self.assertEqual([os], seen)

    def test_a_module_in_a_package_and_one_that_fails(self):
        self.write("a_module/__init__.py", "\n")
        self.write("a_module/inner.py", "raise KeyError('mine')\n")
        seen = []
        imports.after("a_module.inner", seen.append)
        with self.assertRaisesRegex(KeyError, "mine"):
            import a_module.inner  # noqa: F401
        self.assertEqual([], seen)

    def test_a_module_that_is_none(self):
        imports.after("no_such_module", lambda module: None)
        with self.assertRaises(ModuleNotFoundError):
            import no_such_module  # noqa: F401


_TORCH = """\
value = 7
class distributed:
    def is_available():
        return True
"""


class Startup(Folder):
    def copy(self, folder, name, to):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            self.write(os.path.join(to, name), file.read())

    def python(self, *paths, bounded="ddp"):
        return subprocess.run(
            [sys.executable, "-c", "import os, torch; print(torch.value)"],
            env={"PATH": os.environ["PATH"], "GLOO_UBT_BOUNDED": bounded,
                 "PYTHONPATH": ":".join([STARTUP, *paths, self.folder])},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            check=False)

    def test_it_asks_for_bounded_models_once_torch_is_there(self):
        self.write("torch.py", _TORCH)
        self.write("packages/gloo_ubt/__init__.py", (
            "def bound_only_models():\n"
            "    import torch\n"
            "    print('bounds', torch.value)\n"))
        self.copy(os.path.join(PACKAGES, "gloo_ubt"), "imports.py",
                  "packages/gloo_ubt")
        packages = os.path.join(self.folder, "packages")
        self.assertEqual("bounds 7\n7\n", self.python(packages).stdout)
        self.assertEqual("7\n", self.python(packages, bounded="all").stdout)

    def test_the_users_own_runs_too(self):
        self.write("torch.py", "import sitecustomize\n"
                   "value = sitecustomize.mine\n")
        self.write("sitecustomize.py", "mine = 3\n")
        self.assertEqual("3\n", self.python(PACKAGES, bounded="all").stdout)

    def test_two_copies_do_not_run_each_other(self):
        self.write("torch.py", "import sitecustomize\n"
                   "value = sitecustomize.mine\n")
        self.copy(STARTUP, "sitecustomize.py", "copy")
        self.write("sitecustomize.py", "mine = 3\n")
        copy = os.path.join(self.folder, "copy")
        done = self.python(copy, os.path.join(copy, ".", ""), STARTUP,
                           PACKAGES, bounded="all")
        self.assertEqual(("3\n", ""), (done.stdout, done.stderr))

    def test_a_torch_that_lacks_something_still_works(self):
        for text in ("value = 7\n", _TORCH.replace("True", "False")):
            self.write("torch.py", text)
            done = self.python(PACKAGES)
            self.assertEqual("7\n", done.stdout)
            self.assertEqual("is_available" not in text,
                             "bounds nothing" in done.stderr, done.stderr)

    def test_a_python_without_the_package_is_named(self):
        self.write("torch.py", "value = 7\n")
        done = self.python()
        self.assertEqual("7\n", done.stdout)
        self.assertIn("has no gloo_ubt", done.stderr)


if __name__ == "__main__":
    junit_main.main()
