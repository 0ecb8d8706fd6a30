# SPDX-License-Identifier: Apache-2.0
"""A parser of outside bytes, as a fuzz target and as a plain test."""

def fuzz_target(name, srcs, deps, corpus = None):
    """Defines the test `name`.

    With --config=fuzz it is libFuzzer's, and runs for a minute, or as long as
    --test_arg=-max_total_time=SECONDS says; without, it replays some thousand
    random inputs. An input that crashes libFuzzer lies in the outputs.zip of
    the test's folder in bazel-testlogs; where it is short, the log has it too.

    Args:
      name: of the test.
      srcs: one file with LLVMFuzzerTestOneInput.
      deps: what it needs.
      corpus: a folder here of inputs that are kept, and always tried.
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
