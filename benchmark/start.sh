# SPDX-License-Identifier: Apache-2.0
#
# For commands to source: `start COMMAND ARGUMENTS...` installs missing
# packages, then runs bench/COMMAND.

start() {
  local here command=$1
  local python=/usr/bin/python3 # the installed packages belong to it
  local argument list lists only_says=
  here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
  shift
  # Isolated: the user's PYTHONPATH is for the programs that a command starts.
  local run=("$python" -I -B -c '
import runpy, sys
sys.path[:0] = [sys.argv.pop(1), sys.argv.pop(1)]
runpy.run_module(f"bench.{sys.argv.pop(1)}", run_name="__main__",
                 alter_sys=True)' "$here" "$here/../gloo_ext" "$command")

  for argument in "$@"; do
    [[ $argument != -- ]] || break
    [[ $argument != -h && $argument != --help && $argument != --version ]] ||
      only_says=1
  done
  [[ -x $python ]] || "$here/../third_party/install"
  if [[ ! $only_says ]]; then
    # Checks arguments, and names the packages that they need, before it
    # installs anything.
    lists=$("${run[@]}" --only-check "$@")
    for list in $lists; do
      "$here/../third_party/install" "$here/../third_party/$list"
    done
  fi

  exec "${run[@]}" "$@"
}
