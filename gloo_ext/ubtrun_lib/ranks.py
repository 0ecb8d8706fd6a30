# SPDX-License-Identifier: Apache-2.0
"""Local ranks that end together."""
import signal
import socket
import subprocess
import time
from collections.abc import Mapping

# What ranks that were asked to end have before they are killed.
_GRACE_S = 5.0
_POLL_S = 0.05


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run(command: list[str], count: int,
        environment: Mapping[str, str]) -> int:
    """Runs `count` local ranks; returns the exit code of the first that
    failed, or 0. When one fails or ubtrun is told to end, all end."""
    shared = {"WORLD_SIZE": str(count), "LOCAL_WORLD_SIZE": str(count),
              "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()),
              **environment}
    shared.setdefault("OMP_NUM_THREADS", "1")  # as torchrun
    told: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda got, _: told.append(got))
    # A session of their own: Ctrl-C comes here, and is passed on once.
    ranks = [subprocess.Popen(
        command, env={**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)},
        start_new_session=True) for rank in range(count)]
    try:
        while not told:
            codes = [rank.poll() for rank in ranks]
            failed = [code for code in codes if code]
            if failed:
                first = codes.index(failed[0])
                print(f"ubtrun: rank {first} ended with {failed[0]}; "
                      "the others are being ended", flush=True)
                return _code(failed[0])
            if all(code == 0 for code in codes):
                return 0
            time.sleep(_POLL_S)
        return 128 + told[0]
    finally:
        _end(ranks, told[0] if told else signal.SIGTERM)


def _code(returned: int) -> int:
    return returned if returned > 0 else 128 - returned


def _end(ranks: list[subprocess.Popen], number: int) -> None:
    for rank in ranks:
        if rank.poll() is None:
            rank.send_signal(number)
    deadline = time.monotonic() + _GRACE_S
    for rank in ranks:
        try:
            rank.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            rank.kill()
            rank.wait()
