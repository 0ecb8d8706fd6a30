# SPDX-License-Identifier: Apache-2.0
"""One static library of several C++ targets and all that they depend on. Their
headers come with it as runfiles."""

def _archive_impl(ctx):
    parts = {}
    headers = []
    for dep in ctx.attr.deps:
        headers.append(dep[CcInfo].compilation_context.headers)
        for linked in dep[CcInfo].linking_context.linker_inputs.to_list():
            for library in linked.libraries:
                part = library.pic_static_library or library.static_library
                if part:
                    parts[part] = None
    archive = ctx.actions.declare_file(ctx.label.name)
    commands = ["create " + archive.path]
    commands += ["addlib " + part.path for part in parts]
    ctx.actions.run_shell(
        inputs = parts.keys(),
        outputs = [archive],
        command = "printf '%s\\n' \"$@\" save end | ar -M",
        arguments = commands,
        mnemonic = "Archive",
        use_default_shell_env = True,
    )
    return [DefaultInfo(
        files = depset([archive]),
        runfiles = ctx.runfiles(
            files = [archive],
            transitive_files = depset(transitive = headers),
        ),
    )]

archive = rule(
    implementation = _archive_impl,
    attrs = {"deps": attr.label_list(providers = [CcInfo], mandatory = True)},
)
