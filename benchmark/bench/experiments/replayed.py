# SPDX-License-Identifier: Apache-2.0
"""Runs benchmark/compare or benchmark/simulate with one bounded algorithm,
records when contributions arrive, and replays the rule that ends stages over
the record. Run as a program, it measures."""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from front_end import bazel
from front_end.children import end, with_parent
from front_end.commands import run_command
from front_end.errors import UserError

from .. import table

REPLAY = "//benchmark:replay"
_GRACE_S = 20  # a lab has to clean up


def _run(command: Sequence[str], **variables: str) -> str:
    """Returns its standard output. Raises UserError if it fails."""
    process = subprocess.Popen(
        with_parent(list(command)), cwd=bazel.ROOT, stdout=subprocess.PIPE,
        env={**os.environ, **variables}, text=True, start_new_session=True)
    try:
        printed, _ = process.communicate()
    finally:
        end([process], grace_s=_GRACE_S)
    if process.returncode != 0:
        raise UserError(f"{command[0]} failed, see above", process.returncode)
    return printed


def _only(found: Sequence, what: str) -> dict:
    if len(found) != 1:
        raise UserError(f"found {len(found)} {what}, not one: name one bounded "
                        "algorithm, and one size")
    return found[0]


def measure(command: Sequence[str]) -> dict:
    """The command's row, and the replay's report on its record."""
    replay = bazel.build(REPLAY)
    with tempfile.TemporaryDirectory(prefix="replayed-") as folder:
        path = os.path.join(folder, "rows")
        command = [*command, "--json", path]
        if command[0] == "benchmark/simulate":
            _run([*command, "--trace", folder])
        else:
            _run(command, GLOO_UBT_TRACE=folder)
        with open(path, encoding="utf-8") as file:
            row = _only(json.load(file)["rows"], "rows")
        found = json.loads(_run([replay, *sorted(glob.glob(
            os.path.join(folder, "*.jsonl")))]))
    return {"row": row, "replay": _only(found, "recorded contexts")}


def _main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("command", choices=("benchmark/compare",
                                            "benchmark/simulate"),
                        help="its arguments follow")
    parser.add_argument("--json", metavar="FILE", required=True)
    arguments, more = parser.parse_known_args(argv)
    table.write_json(arguments.json, measure([arguments.command, *more]))
    return 0


if __name__ == "__main__":
    sys.exit(run_command(_main, sys.argv[1:]))
