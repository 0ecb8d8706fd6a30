# SPDX-License-Identifier: Apache-2.0
#
# For commands to source: `start PACKAGE ARGUMENTS...` installs missing
# packages, then runs a front end, a Python package in this folder.

start() {
  local here package=$1
  local python=/usr/bin/python3 # the installed packages belong to it
  local argument wants_help=
  here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
  shift
  export PYTHONPATH=$here:$here/../gloo_ext

  for argument in "$@"; do
    [[ $argument != -h && $argument != --help ]] || wants_help=1
  done
  if [[ ! $wants_help || ! -x $python ]]; then
    # Checks arguments before it installs anything.
    [[ ! -x $python ]] || "$python" -B -m "$package" --only-check "$@"
    "$here/../third_party/install"
  fi

  exec "$python" -B -m "$package" "$@"
}
