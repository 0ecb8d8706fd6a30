# SPDX-License-Identifier: Apache-2.0
#
# For scripts to source, after command.sh. `venv NAME WHAT PACKAGES...` makes a
# virtual environment with PyPI's PACKAGES, once: ~/.cache/gloo_ubt/NAME. WHAT,
# in words, is what it installs. Sets `home` to its folder.

venv() {
  local name=$1 what=$2
  shift 2
  home=~/.cache/gloo_ubt/$name
  [[ ! -e $home/complete ]] || return 0
  made_folder HOME "$(dirname "$home")" >/dev/null
  echo "Installing $what ..." >&2
  rm -rf "$home"
  # Debian's: the only Python that is always installed.
  /usr/bin/python3 -m venv "$home" >&2
  "$home/bin/pip" install --quiet --disable-pip-version-check "$@" >&2
  touch "$home/complete"
}
