# SPDX-License-Identifier: Apache-2.0
"""clang-tidy as a test of each C++ target of a package.

A test's inputs are the target's own files and every header that they can
reach, so Bazel runs it again only when one of those, or .clang-tidy, changes.
"""

_TidyInfo = provider(
    "What clang-tidy needs to know of a target.",
    fields = {
        "sources": "files to look at, a list",
        "headers": "depset of what they may include",
        "defines": "depset of macros",
    },
)

def _tidy_aspect_impl(target, ctx):
    attributes = ctx.rule.attr
    own = [
        file
        for name in ["srcs", "hdrs"]
        for file in getattr(ctx.rule.files, name, [])
    ]
    contexts = [
        dep[CcInfo].compilation_context
        for dep in getattr(attributes, "deps", [])
        if CcInfo in dep
    ]
    return [_TidyInfo(
        sources = [file for file in own if file.extension == "cc"],
        headers = depset(
            [file for file in own if file.extension != "cc"],
            transitive = [context.headers for context in contexts],
        ),
        defines = depset(
            getattr(attributes, "defines", []),
            transitive = [context.defines for context in contexts],
        ),
    )]

_tidy_aspect = aspect(implementation = _tidy_aspect_impl)

_SCRIPT = """#!/bin/bash
# Paths are told as the workspace knows them, not as this sandbox does.
set -uo pipefail
if ! command -v clang-tidy >/dev/null; then
  echo "clang-tidy is missing; run third_party/install"
  exit 1
fi
clang-tidy --quiet --config-file={config} {sources} -- \\
  -x c++ -std=c++17 -I. {defines} 2>&1 | \\
  sed -e "s|$PWD/||g" -e '/ warnings generated[.]$/d'
status=$?
((status == 0)) || echo "Mend it, or excuse the line with // NOLINT(check-name)" \\
  "and the reason. The checks are in {config}."
exit $status
"""

def _tidy_test_impl(ctx):
    info = ctx.attr.target[_TidyInfo]
    script = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        script,
        _SCRIPT.format(
            config = ctx.file.config.short_path,
            sources = " ".join([file.short_path for file in info.sources]),
            defines = " ".join(["-D" + name for name in info.defines.to_list()]),
        ),
        is_executable = True,
    )
    return [DefaultInfo(
        executable = script,
        runfiles = ctx.runfiles(
            files = info.sources + [ctx.file.config],
            transitive_files = info.headers,
        ),
    )]

_tidy_test = rule(
    implementation = _tidy_test_impl,
    attrs = {
        "target": attr.label(aspects = [_tidy_aspect], mandatory = True),
        "config": attr.label(allow_single_file = True, mandatory = True),
    },
    test = True,
)

def tidy_tests():
    """Call at the end of a BUILD file: a test for each target above it.

    Headers are looked at with the sources that include them; a target of
    headers alone has none, nor does one that is tagged no-tidy.
    """
    tests = (native.package_name() + "/").startswith("tests/")
    config = "//tests:.clang-tidy" if tests else "//:.clang-tidy"
    for name, target in native.existing_rules().items():
        if target["kind"] not in ["cc_library", "cc_binary", "cc_test"]:
            continue
        if target["srcs"] == () or "no-tidy" in target["tags"]:
            continue
        _tidy_test(
            name = name + "_tidy",
            config = config,
            size = "large",  # a first run takes some seconds a file
            tags = ["tidy"],
            target = ":" + name,
            testonly = True,
        )
