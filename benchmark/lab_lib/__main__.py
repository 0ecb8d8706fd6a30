# SPDX-License-Identifier: Apache-2.0
"""Runs a command on all hosts of a lab."""
import argparse
import contextlib
import os
import sys
import time
from collections.abc import Mapping, Sequence

from front_end.commands import run_command
from front_end.local_ranks import LocalRanks, how

from . import arguments as command_line
from . import isolation
from .lab import Lab
from .output import Prefixed

_POLL_S = 0.05
_GRACE_S = 8.0  # as ubtrun's, and longer than the library waits


def _on_all(arguments: argparse.Namespace) -> int:
    with Lab(arguments.in_lab) as lab:
        began, before = time.monotonic(), lab.traffic.flow_bytes()
        code = _run(arguments.command, lab)
        seconds = time.monotonic() - began
        for flow, old, new in zip(lab.traffic.flows, before,
                                  lab.traffic.flow_bytes()):
            print(f"TCP flow from host {flow.source} to host {flow.victim}: "
                  f"{8e-6 * (new - old) / seconds:.1f} of "
                  f"{lab.settings.links.rate_mbit:g} Mbit/s", file=sys.stderr)
        return code


def _run(command: Sequence[str], lab: Lab) -> int:
    """Returns the exit code of the first that failed, or 0."""
    count = len(lab.hosts)
    environment = {**os.environ, **lab.variables(os.environ)}
    with contextlib.ExitStack() as stack:
        output = stack.enter_context(Prefixed(count)) if count > 1 else None
        ranks = stack.enter_context(LocalRanks(
            command, count, environment, output and output.files, _GRACE_S,
            lab.hosts))
        if output:
            output.started()
        while None in ranks.codes() and not any(ranks.codes()):
            lab.traffic.check()
            time.sleep(_POLL_S)
        blamed = ranks.blamed()
        if blamed:
            ranks.end()
    return _blame(blamed, count) if blamed else 0


def _blame(blamed: Mapping[int, int], count: int) -> int:
    for host, code in blamed.items():
        print(f"error: host {host}'s command {how(code)}", file=sys.stderr)
    if len(blamed) < count:
        print("those of the other hosts have been ended, too", file=sys.stderr)
    first = next(iter(blamed.values()))
    return first if first > 0 else 128 - first


def _main(argv: Sequence[str]) -> int:
    arguments = command_line.parse(argv)
    if arguments.only_check:
        return 0
    return isolation.run(lambda: _on_all(arguments))


def main(argv: Sequence[str]) -> int:
    return run_command(_main, argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
