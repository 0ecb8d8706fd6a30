# SPDX-License-Identifier: Apache-2.0
"""Local ranks that end together."""
from __future__ import annotations

import signal
import sys
import time
from collections.abc import Mapping, Sequence

from .local_ranks import LocalRanks, exit_code, how

# Longer than the library waits for other ranks when a process ends (5 s).
_GRACE_S = 8.0
_POLL_S = 0.05


def run(name: str, command: Sequence[str], count: int,
        environment: Mapping[str, str]) -> int:
    """Runs `count` local ranks until all end, one fails, or this process is
    told to end. Returns 0 or the exit code of the rank to blame. `name` is that
    of the program, for messages."""
    told: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if (number != signal.SIGHUP  # under nohup
                or signal.getsignal(number) != signal.SIG_IGN):
            signal.signal(number, lambda got, _: told.append(got))
    own = {"OMP_NUM_THREADS": "1", **environment}  # as torchrun does
    with LocalRanks(command, count, own, grace_s=_GRACE_S) as ranks:
        while not told:
            codes = ranks.codes()
            if any(codes):
                break
            if None not in codes:
                return 0
            time.sleep(_POLL_S)
        if told:
            ranks.end(told[0])
            return 128 + told[0]
        blamed = ranks.blamed()
    for rank, code in blamed.items():
        print(f"{name}: rank {rank} {how(code)}", file=sys.stderr)
    if len(blamed) < count:
        print(f"{name}: the other ranks have been ended", file=sys.stderr)
    return exit_code(blamed)
