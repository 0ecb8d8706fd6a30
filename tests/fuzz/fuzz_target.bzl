# SPDX-License-Identifier: Apache-2.0
"""A parser of outside bytes, as a fuzz target and as a test of its corpus."""

def fuzz_target(name, srcs, deps, corpus = None):
    """Defines the test `name`.

    With --config=fuzz it is libFuzzer's, and runs for a minute; without, it
    replays the files of its corpus and some thousand random inputs.

    Args:
      name: of the test.
      srcs: one file with LLVMFuzzerTestOneInput.
      deps: what it needs.
      corpus: files to begin with.
    """
    native.cc_test(
        name = name,
        size = "medium",
        srcs = srcs + select({
            ":fuzzing": [],
            "//conditions:default": ["replay_main.cc"],
        }),
        args = select({
            ":fuzzing": [
                "-max_total_time=60",
                "-print_final_stats=1",
                "-rss_limit_mb=2048",
            ],
            "//conditions:default": [],
        }),
        data = corpus or [],
        linkopts = select({
            ":fuzzing": ["-fsanitize=fuzzer"],
            "//conditions:default": [],
        }),
        deps = deps,
    )
