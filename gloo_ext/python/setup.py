# SPDX-License-Identifier: Apache-2.0
"""The tag of the wheel. With the library it is for one platform, but for every
Python: nothing in it uses Python's ABI."""
import os

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel


class Package(Distribution):
    def has_ext_modules(self) -> bool:
        return os.path.exists("gloo_ubt/libgloo_ubt.so")


class Wheel(bdist_wheel):
    def get_tag(self) -> tuple:
        return "py3", "none", super().get_tag()[2]


# third_party/wheel makes these.
SHARED = ["share/man/man7/gloo_ubt.7",
          "share/bash-completion/completions/gloo_ubt"]

setup(distclass=Package, cmdclass={"bdist_wheel": Wheel},
      data_files=[(os.path.dirname(path), [path]) for path in SHARED
                  if os.path.exists(path)])
