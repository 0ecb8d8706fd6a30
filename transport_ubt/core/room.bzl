# SPDX-License-Identifier: Apache-2.0
"""A folder of the core as a library."""

load("//tests/tidy:tidy_test.bzl", "tidy_tests")

def core_room(name, rooms = [], deps = [], visibility = []):
    """Builds a folder's sources twice.

    NAME is the library. `checked` is the same library with a check of
    everything that the headers REQUIRE, for simulator, fuzzers and tests. A
    program links one kind only.

    Args:
      name: the folder's.
      rooms: other folders of the core that this one uses.
      deps: other libraries.
      visibility: who may use it, beside the tests.
    """
    srcs = native.glob(["*.cc"], exclude = ["*_benchmark.cc"])
    hdrs = native.glob(["*.h"])
    native.cc_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs,
        visibility = visibility + ["//tests:__subpackages__"],
        deps = deps + rooms,
    )
    native.cc_library(
        name = "checked",
        srcs = srcs,
        hdrs = hdrs,
        defines = ["UBT_CHECKS=1"],
        tags = ["no-tidy"],  # the same sources
        visibility = [
            "//tests:__subpackages__",
            "//transport_ubt/core:__subpackages__",
        ],
        deps = deps + [room + ":checked" for room in rooms],
    )
    tidy_tests()
