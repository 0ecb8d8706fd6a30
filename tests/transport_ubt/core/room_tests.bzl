# SPDX-License-Identifier: Apache-2.0
"""The tests of one folder of the core."""

load("//tests/tidy:tidy_test.bzl", "tidy_tests")

def room_tests(extra_deps = {}):
    """A test for each *_test.cc of the package.

    Args:
      extra_deps: by test, what it needs beside the core and its fixtures.
    """
    for source in native.glob(["*_test.cc"]):
        name = source[:-len(".cc")]
        native.cc_test(
            name = name,
            size = "medium" if name in extra_deps else "small",
            srcs = [source],
            deps = extra_deps.get(name, []) + [
                "//transport_ubt/sim:plain_reduction",
                "//tests/transport_ubt/core:one_op",
                "//tests/transport_ubt/core:one_rank",
                "//third_party:gtest_main",
                "//third_party:rapidcheck",
                "//transport_ubt/core:checked",
            ],
        )
    tidy_tests()
