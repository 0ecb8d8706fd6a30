# SPDX-License-Identifier: Apache-2.0
#
# For scripts to source.

# fail TEXT [EXIT_CODE]
fail() {
  echo "error: $1" >&2
  exit "${2:-1}"
}

# Makes the folder $2 that option $1 names. Prints its absolute path.
made_folder() {
  mkdir -p -- "$2" 2>/dev/null ||
    fail "$1: cannot make the folder '$2'; name another" 2
  [[ -w $2 ]] || fail "$1: cannot write into '$2'; name another" 2
  (cd -- "$2" && pwd)
}
