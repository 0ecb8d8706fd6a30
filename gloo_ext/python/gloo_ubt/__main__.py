# SPDX-License-Identifier: Apache-2.0
"""python -m gloo_ubt COMMAND"""

import sys
from importlib import metadata

from gloo_ubt import packaged, settings, timeline, top

_MAINS = {"run": packaged.run, "env": packaged.env, "top": top.main,
          "timeline": timeline.main, "settings": settings.main}
COMMANDS = tuple(_MAINS)
_USAGE = """\
usage: python -m gloo_ubt COMMAND ...

commands
  run SCRIPT   run a PyTorch script over the bounded allreduce
  env          print the variables that make a launcher of your own do the same
  top DIR      a live table of a running job (GLOO_UBT_REPORT=DIR)
  timeline DIR a picture of each step, for Perfetto (GLOO_UBT_TRACE=DIR)
  settings     the variables that the library reads; manual page, completion

python -m gloo_ubt COMMAND --help says more. The command gloo_ubt is the same.
"""


def _version() -> str:
    try:
        return metadata.version("gloo_ubt")
    except metadata.PackageNotFoundError:
        return "of a source tree"


def main() -> int:
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name in ("-h", "--help"):
        print(_USAGE, end="")
        return 0
    if name == "--version":
        print(f"gloo_ubt {_version()}")
        return 0
    if name not in _MAINS:
        print(f"error: there is no command '{name}'\n\n{_USAGE}" if name
              else _USAGE, end="", file=sys.stderr)
        return 2
    return _MAINS[name](sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
