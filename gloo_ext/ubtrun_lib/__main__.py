# SPDX-License-Identifier: Apache-2.0
"""ubtrun: see --help."""
import os
import shlex
import shutil
import subprocess
import sys

from . import arguments, environment, ranks

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
TARGET = "//gloo_ext:libgloo_ubt.so"
LIBRARY = os.path.join(ROOT, "bazel-bin", "gloo_ext", "libgloo_ubt.so")


def fail(message: str) -> None:
    print(f"error: {message}", file=sys.stderr)
    sys.exit(1)


def built() -> str:
    """The library's path. Builds it on first use, and not again: ranks of one
    job start together."""
    if not os.path.exists(LIBRARY):
        print("ubtrun: building the library (once; a minute) ...",
              file=sys.stderr, flush=True)
        result = subprocess.run(
            ["bazel", "build", "-c", "opt", TARGET], cwd=ROOT,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            check=False)
        if result.returncode != 0:
            fail(f"{result.stdout[-4000:]}\nbazel build {TARGET} failed, see "
                 "above")
    return LIBRARY


def main() -> int:
    words = sys.argv[1:]
    options = arguments.parse(words)
    try:
        launched = ({} if options.nproc_per_node or options.print_env
                    else environment.of_launcher(os.environ))
    except environment.LauncherError as error:
        fail(str(error))
    if shutil.which(options.python) is None:
        fail(f"no Python at '{options.python}': say --python PATH")
    if options.script and not os.path.exists(options.script):
        fail(f"no script '{options.script}'")
    if options.report and not os.path.isdir(options.report):
        fail(f"--report {options.report}: no such folder; make it first")
    if options.only_check:
        if not os.path.exists(LIBRARY):
            print("build")
        return 0
    variables = environment.of_library(options, built(), os.environ)
    if options.print_env:
        for name, value in variables.items():
            print(f"export {name}={shlex.quote(value)}")
        return 0
    full = {**os.environ, **launched, **variables}
    command = [shutil.which(options.python), options.script,
               *options.arguments]
    if options.nproc_per_node:
        return ranks.run(command, options.nproc_per_node, full)
    os.execvpe(command[0], command, full)


if __name__ == "__main__":
    sys.exit(main())
