# SPDX-License-Identifier: Apache-2.0
"""A parser of untrusted bytes as a fuzz target and as a plain test."""

def fuzz_target(name, srcs, deps, corpus = None):
    """Defines the test `name`.

    With --config=fuzz the test is a libFuzzer target. It runs for a minute, or
    as long as --test_arg=-max_total_time=SECONDS says. Without it, the test
    replays some thousand random inputs. An input that crashes the libFuzzer
    target is in outputs.zip in the test's folder in bazel-testlogs. A short
    one is in the log, too.

    Args:
      name: name of the test.
      srcs: one file with LLVMFuzzerTestOneInput.
      deps: libraries that it needs.
      corpus: a folder here with kept inputs, which are always tried.
    """
    folders = ["tests/fuzz/" + corpus] if corpus else []
    native.cc_test(
        name = name,
        size = "medium",
        srcs = srcs + select({
            ":fuzzing": ["libfuzzer_init.cc"],
            "//conditions:default": ["replay_main.cc"],
        }),
        args = select({
            ":fuzzing": [
                "-max_total_time=60",
                "-print_final_stats=1",
                "-rss_limit_mb=2048",
                "-malloc_limit_mb=64",
            ],
            "//conditions:default": [],
        }) + folders,
        data = native.glob([corpus + "/*"]) if corpus else [],
        linkopts = select({
            ":fuzzing": ["-fsanitize=fuzzer"],
            "//conditions:default": [],
        }),
        deps = deps,
    )
