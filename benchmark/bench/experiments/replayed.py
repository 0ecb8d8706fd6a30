# SPDX-License-Identifier: Apache-2.0
"""Runs benchmark/compare or benchmark/simulate with one bounded algorithm,
records when contributions arrive, and replays the rule that ends stages over
the record. Run as a program, it measures:

    replayed.py COMMAND ARGUMENTS... --json FILE
"""
import glob
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from front_end import bazel
from front_end.commands import run_command
from front_end.errors import UserError

REPLAY = "//benchmark:replay"


def _run(command: Sequence[str], **variables: str) -> str:
    """Returns what it says. Raises UserError if it fails."""
    done = subprocess.run(command, cwd=bazel.ROOT, stdout=subprocess.PIPE,
                          env={**os.environ, **variables}, text=True,
                          check=False)
    if done.returncode != 0:
        raise UserError(f"{command[0]} failed, see above")
    return done.stdout


def _record(command: Sequence[str], folder: str) -> dict:
    """The only row of the command, which leaves records in `folder`."""
    path = os.path.join(folder, "rows")
    command = [*command, "--json", path]
    if command[0] == "benchmark/simulate":
        _run([*command, "--trace", folder])
    else:
        _run(command, GLOO_UBT_TRACE=folder)
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)
    assert len(rows) == 1, command
    return rows[0]


def measure(command: Sequence[str]) -> dict:
    """The command's row, and what the replay says of its record."""
    replay = bazel.build(REPLAY)
    with tempfile.TemporaryDirectory(prefix="replayed-") as folder:
        row = _record(command, folder)
        said = _run([replay, *sorted(glob.glob(f"{folder}/*.jsonl"))])
    return {"row": row, "replay": json.loads(said)[0]}


def _main(argv: Sequence[str]) -> int:
    *command, option, path = argv
    assert option == "--json", argv
    result = measure(command)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(result, file)
    return 0


if __name__ == "__main__":
    sys.exit(run_command(_main, sys.argv[1:]))
