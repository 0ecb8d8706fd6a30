# SPDX-License-Identifier: Apache-2.0
"""Options that the commands share."""
import argparse

from front_end.options import check_writable, picture
from front_end.version import VERSION


def parser(command: str, description: str,
           epilog: str) -> argparse.ArgumentParser:
    """A parser for benchmark/COMMAND."""
    made = argparse.ArgumentParser(
        prog=f"benchmark/{command}", description=description, epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False)
    made.add_argument(  # only checks the arguments; see checked()
        "--only-check", action="store_true", help=argparse.SUPPRESS)
    made.add_argument("--version", action="version",
                      version=f"gloo_ubt {VERSION}")
    made.add_argument("--binary", help=argparse.SUPPRESS)  # already built
    return made


def checked(*lists: str) -> int:
    """With --only-check: prints the lists in third_party/ that name the
    packages of this command. benchmark/start.sh installs them."""
    print("\n".join(("packages.txt", *lists)))
    return 0


def name(text: str) -> str:
    """A `type` for argparse: the name of one algorithm."""
    found = names(text)
    if len(found) > 1:
        raise argparse.ArgumentTypeError(f"'{text}': name one algorithm")
    return found[0]


def names(text: str) -> list[str]:
    """A `type` for argparse: names of algorithms, separated by commas. The
    program that has the algorithms checks them (algorithms.py)."""
    found = text.split(",")
    if "" in found:
        raise argparse.ArgumentTypeError(
            f"'{text}' has an empty name; write for example ring,optireduce")
    if len(set(found)) != len(found):
        raise argparse.ArgumentTypeError("name each algorithm only once")
    return found


def add_results(group: argparse._ActionsContainer, json: str,
                plot: str | None = None) -> None:
    """Adds --json and, with its help text `plot`, --plot."""
    group.add_argument("--json", metavar="FILE", help=json)
    if plot:
        group.add_argument("--plot", type=picture, metavar="FILE.png",
                           help=plot)


def check_results(made: argparse.ArgumentParser,
                  arguments: argparse.Namespace) -> None:
    """Ends the process if a result could not be written."""
    for option in ("json", "plot"):
        path = getattr(arguments, option, None)
        if path is not None:
            check_writable(made, f"--{option}", path)
