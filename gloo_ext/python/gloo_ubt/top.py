# SPDX-License-Identifier: Apache-2.0
"""A live table of the ranks of a running job, from their reports
(docs/drop_in.md, Reports)."""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
import sys
import time
from typing import Dict, List, Optional, Sequence, Tuple

_FILE = re.compile(r"rank(\d+)(?:-\d+)?\.prom")
_LINE = re.compile(r"gloo_ubt_(\w+)\{([^}]*)\} (\S+)")
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_STALE_S = 5.0  # ranks renew their files every second

_DESCRIPTION = """\
Shows what the ranks of a job do: how many allreduces they call, how long these
take, and how much their results lack. Ctrl-C ends it.
"""

_EPILOG = """\
columns
  calls/s    allreduces a second, since the last look
  bounded    calls with a bound
  cut        those of them that left data out
  missing    the share of (contributor, element) pairs that results lack
  p50, p99   time of the latest bounded calls
  repaired   data that arrived on request
  lost       data that the network lost
  from       the rank that sent most of it
  silent     seconds since the rank last wrote its file, if it seems to be over

The job writes the files if GLOO_UBT_REPORT=DIR, or ubtrun --report DIR, says
so. On several hosts, each has its own.
"""


@dataclasses.dataclass(frozen=True)
class Sample:
    """A rank's counters, at one time."""

    calls: int
    bounded: int
    cut: int
    expected: int  # pairs
    missing: int
    p50_ms: float
    p99_ms: float
    repaired: int  # bytes
    lost: Dict[str, int]  # bytes by rank
    age_s: float  # since they were written


# By rank, and by process, because a forked child has a file of its own.
Samples = Dict[Tuple[int, str], Sample]


def parse(text: str, age_s: float = 0.0) -> Sample:
    """The counters in a textfile. What is missing is 0."""
    values: Dict[str, float] = {}
    calls = 0
    lost: Dict[str, int] = {}
    for name, labels_text, number in _LINE.findall(text):
        labels = dict(_LABEL.findall(labels_text))
        if name == "ops_total":
            calls += int(number)
        if name == "lost_bytes_total":
            lost[labels["peer"]] = lost.get(labels["peer"], 0) + int(number)
        key = labels.get("kind") or labels.get("quantile") or ""
        values[name + key] = float(number)

    def whole(name: str) -> int:
        return int(values.get(name, 0))

    return Sample(
        calls, whole("ops_totalbounded"), whole("expired_ops_total"),
        whole("pairs_expected_total"), whole("pairs_missing_total"),
        1000 * values.get("op_seconds0.5", 0),
        1000 * values.get("op_seconds0.99", 0),
        whole("repaired_bytes_total"), lost, age_s)


def read(folder: str) -> Samples:
    """The newest counters of all ranks that have written any."""
    found = {}
    for name in os.listdir(folder):
        match = _FILE.fullmatch(name)
        if match is None:
            continue
        path = os.path.join(folder, name)
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            age_s = max(0.0, time.time() - os.path.getmtime(path))
        except FileNotFoundError:  # its rank has ended meanwhile
            continue
        found[int(match[1]), name] = parse(text, age_s)
    return found


def _most(lost: Dict[str, int]) -> str:
    """The rank whose data got lost most, if any did."""
    if not lost or max(lost.values()) == 0:
        return ""
    return max(lost, key=lambda rank: lost[rank])


def _row(rank: int, now: Sample, before: Optional[Sample],
         seconds: float) -> List[str]:
    rate = ("" if before is None or seconds <= 0
            else f"{(now.calls - before.calls) / seconds:.1f}")
    share = now.missing / now.expected if now.expected else 0
    return [
        str(rank), rate, str(now.bounded), str(now.cut),
        "0" if share == 0 else f"{100 * share:.2g} %",
        f"{now.p50_ms:.4g}", f"{now.p99_ms:.4g}", f"{now.repaired / 1e6:.1f}",
        f"{sum(now.lost.values()) / 1e6:.1f}", _most(now.lost),
        f"{now.age_s:.0f}" if now.age_s > _STALE_S else ""]


_HEADINGS = ["rank", "calls/s", "bounded", "cut", "missing", "p50 ms",
             "p99 ms", "repaired MB", "lost MB", "from", "silent s"]


def render(now: Samples, before: Samples, seconds: float) -> str:
    """The table: a line for each rank, whose calls came in `seconds`."""
    lines = [_HEADINGS] + [
        _row(key[0], now[key], before.get(key), seconds)
        for key in sorted(now)]
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths)
                  ).rstrip() for line in lines) + "\n"


def _show(folder: str, now: Samples, before: Samples, seconds: float) -> None:
    if sys.stdout.isatty():
        print("\x1b[H\x1b[J", end="")  # clears the screen
    print(f"{folder}, {time.strftime('%H:%M:%S')}\n")
    print(render(now, before, seconds) if now else
          "No rank has written anything here yet.\n", end="", flush=True)


def main(argv: Sequence[str]) -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m gloo_ubt top", description=_DESCRIPTION,
        epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="DIR", help="where ranks write their "
                        "reports")
    parser.add_argument("--interval", type=float, default=2.0, metavar="S",
                        help="seconds between two looks (default: 2)")
    parser.add_argument("--once", action="store_true",
                        help="show the table once, after one interval")
    arguments = parser.parse_args(argv)
    if not 0 < arguments.interval < 3600:
        parser.error(f"--interval {arguments.interval:g}: has to be above 0 "
                     "and below 3600")
    if not os.path.isdir(arguments.folder):
        parser.error(f"there is no folder '{arguments.folder}'; name the one "
                     "in GLOO_UBT_REPORT or ubtrun --report")
    try:
        before, looked = read(arguments.folder), time.monotonic()
        while True:
            time.sleep(arguments.interval)
            now, looks = read(arguments.folder), time.monotonic()
            _show(arguments.folder, now, before, looks - looked)
            if arguments.once:
                return 0 if now else 1
            before, looked = now, looks
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
