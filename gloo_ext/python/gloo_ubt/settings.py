# SPDX-License-Identifier: Apache-2.0
"""The settings of the library, for people and for shells. They come from its
own table."""

from __future__ import annotations

import argparse
import ctypes
import json
import re
import shutil
import sys
import textwrap
from typing import Any, Dict, List, Sequence

from gloo_ubt.packaged import options, preload_path

_DESCRIPTION = """\
Shows the environment variables that the library reads: their values, their
defaults, and what they do.
"""

_EPILOG = """\
examples
  python -m gloo_ubt settings             all of them
  python -m gloo_ubt settings budget cut  those with one of these words
  source <(python -m gloo_ubt settings --completion)  # in ~/.bashrc, for bash
  python -m gloo_ubt settings --man > ~/.local/share/man/man7/gloo_ubt.7
"""

# variable, values, default, meaning, experiment (whether it is an entry of
# GLOO_UBT_EXPERIMENT)
Setting = Dict[str, Any]


def table() -> List[Setting]:
    """All settings, in the order of the documentation.

    Raises:
        RuntimeError: the package was installed without the library.
    """
    function = ctypes.CDLL(preload_path()).gloo_ubt_settings
    function.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    function.restype = ctypes.c_size_t
    size = function(None, 0)
    text = ctypes.create_string_buffer(size)
    function(text, size)
    found: List[Setting] = json.loads(text.value)
    return found


def _is_about(setting: Setting, words: Sequence[str]) -> bool:
    text = " ".join(map(str, setting.values())).lower()
    return not words or any(word.lower() in text for word in words)


def listed(settings: Sequence[Setting], columns: int) -> str:
    """A paragraph for each setting, at most `columns` wide."""
    paragraphs = []
    for setting in settings:
        values = f"{setting['values']} (default: {setting['default']})"
        paragraphs.append("\n".join([
            setting["variable"],
            *textwrap.wrap(values, columns, initial_indent="    ",
                           subsequent_indent="    "),
            *textwrap.wrap(setting["meaning"].replace("`", ""), columns,
                           initial_indent="    ", subsequent_indent="    ")]))
    return "\n\n".join(paragraphs) + "\n"


def _troff(text: str) -> str:
    """The text without Markdown, as troff reads it."""
    text = text.replace("`", "").replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text)


def man_page(settings: Sequence[Setting]) -> str:
    """The page gloo_ubt(7)."""
    lines = ['.TH GLOO_UBT 7 "" "gloo_ubt"', ".SH NAME",
             "gloo_ubt \\- settings of a bounded allreduce for Gloo",
             ".SH DESCRIPTION",
             "The library reads these variables when a process first uses it.",
             "A duration has a unit, as in 500us, 20ms or 1s."]
    for heading, experiment in (("ENVIRONMENT", False), ("EXPERIMENTS", True)):
        lines.append(f".SH {heading}")
        if experiment:
            lines.append("Entries of GLOO_UBT_EXPERIMENT, such as gso:off, "
                         "with commas between them.")
        for setting in settings:
            if setting["experiment"] == experiment:
                lines += [".TP", f".B {_troff(setting['variable'])}",
                          _troff(f"{setting['values']} (default: "
                                 f"{setting['default']})"), ".br",
                          _troff(setting["meaning"])]
    return "\n".join(lines) + "\n"


_COMPLETION = """\
# Completion of bash for gloo_ubt.
_gloo_ubt() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words=
  if ((COMP_CWORD == 1)); then
    words="{commands} --help --version"
  elif [[ $word == -* ]]; then
    case ${{COMP_WORDS[1]}} in
      run | env) words="{options}" ;;
      *) words=--help ;;
    esac
  else
    case ${{COMP_WORDS[COMP_CWORD - 1]}} in
{values}
    esac
  fi
  if [[ $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  else
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}}
complete -F _gloo_ubt gloo_ubt
"""


def completion(settings: Sequence[Setting], commands: Sequence[str],
               options: Sequence[str], algorithms: Sequence[str]) -> str:
    """A script for bash. `options` and `algorithms`: of the command run."""
    values = {"--algo": " ".join(algorithms)}
    for setting in settings:
        option = "--" + setting["variable"].replace("GLOO_UBT_", "").lower()
        words = setting["values"].split(", ")
        if option in options and all(re.fullmatch(r"\w+", word)
                                     for word in words):
            values[option] = " ".join(words)
    return _COMPLETION.format(
        commands=" ".join(commands), options=" ".join(options),
        values="\n".join(f'      {option}) words="{words}" ;;'
                         for option, words in values.items()))


def main(argv: Sequence[str]) -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m gloo_ubt settings", description=_DESCRIPTION,
        epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD",
                        help="show only settings with one of these words")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--man", action="store_true", help="as a manual page")
    form.add_argument("--completion", action="store_true",
                      help="a script for bash that completes gloo_ubt's "
                      "commands, options and values")
    arguments = parser.parse_args(argv)
    try:
        settings = table()
    except RuntimeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if arguments.man:
        print(man_page(settings), end="")
        return 0
    if arguments.completion:
        from gloo_ubt import __main__ as command
        from gloo_ubt.front_end.arguments import ALGORITHMS

        print(completion(settings, command.COMMANDS, options(), ALGORITHMS),
              end="")
        return 0
    found = [setting for setting in settings
             if _is_about(setting, arguments.words)]
    if not found:
        parser.error(f"no setting is about {', '.join(arguments.words)}")
    print(listed(found, min(shutil.get_terminal_size().columns, 80)), end="")
    return 0
