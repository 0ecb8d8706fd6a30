# SPDX-License-Identifier: Apache-2.0
"""A live table of the ranks of a running job, from their reports
(docs/watching.md)."""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
import sys
import time
from typing import Dict, List, Mapping, Optional, Sequence, Tuple

_FILE = re.compile(r"(?:\w+-)?rank(\d+)(?:-\d+)?\.prom")
_LINE = re.compile(r"gloo_ubt_(\w+)\{([^}]*)\} (\d+(?:\.\d+)?)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_STALE_S = 5.0  # a rank that calls renews its file every second

_DESCRIPTION = """\
Shows what the ranks of a job do: how many allreduces they call, how long these
take, and how much their results lack. Ends with the job, or with Ctrl-C.
"""

_EPILOG = """\
columns
  calls/s    allreduces a second
  bounded    calls with a bound
  expired    those of them that left data out
  missing    the share of (contributor, element) pairs that results lack
  p50, p99   time of the latest bounded calls
  repaired   data that arrived on request
  lost       data that the network lost
  from       the rank that sent most of it
  late       seconds by which the calls of the latest rank came after those of
             most ranks
  of         that rank
  silent     seconds since the latest bounded call, if there are many: the rank
             computes or makes only exact calls. "ended": its process has ended

The job writes the files if GLOO_UBT_METRICS=DIR or GLOO_UBT_REPORT=DIR, or
--report DIR of the command that runs it, says so. On several hosts, each has
its own.
"""


@dataclasses.dataclass(frozen=True)
class Sample:
    """A rank's counters, at one time."""

    calls: int
    bounded: int
    expired: int
    expected: int  # pairs
    missing: int
    p50_ms: float
    p99_ms: float
    repaired: int  # bytes
    lost: Dict[str, int]  # bytes by rank
    late: Dict[str, float]  # seconds by rank
    runs: bool
    written: float  # when, in seconds since the epoch


# By rank, and by process, because a forked child has a file of its own.
Key = Tuple[int, str]
Samples = Dict[Key, Sample]
Rates = Dict[Key, float]


def parse(text: str, written: float = 0.0) -> Sample:
    """The counters in a textfile. What is missing, or no number, is 0."""
    values: Dict[str, float] = {}
    calls = 0
    lost: Dict[str, int] = {}
    late: Dict[str, float] = {}
    for name, labels_text, number in _LINE.findall(text):
        labels = dict(_LABEL.findall(labels_text))
        if name == "ops_total":
            calls += int(float(number))
        if name == "lost_bytes_total":
            peer = labels.get("peer", "")
            lost[peer] = lost.get(peer, 0) + int(float(number))
        if name == "late_seconds_total":
            late[labels.get("peer", "")] = float(number)
        key = labels.get("kind") or labels.get("quantile") or ""
        values[name + key] = float(number)

    def whole(name: str) -> int:
        return int(values.get(name, 0))

    return Sample(
        calls, whole("ops_totalbounded"), whole("expired_ops_total"),
        whole("pairs_expected_total"), whole("pairs_missing_total"),
        1000 * values.get("op_seconds0.5", 0),
        1000 * values.get("op_seconds0.99", 0),
        whole("repaired_bytes_total"), lost, late,
        values.get("running", 1) != 0, written)


def read(folder: str) -> Samples:
    """The newest counters of all ranks that have written any."""
    found = {}
    for name in os.listdir(folder):
        match = _FILE.fullmatch(name)
        if match is None:
            continue
        path = os.path.join(folder, name)
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
            written = os.path.getmtime(path)
        except FileNotFoundError:  # somebody has removed it meanwhile
            continue
        found[int(match[1]), name] = parse(text, written)
    return found


def rates_of(now: Samples, before: Samples, rates: Rates) -> Rates:
    """The calls a second of each rank: since the file was written before. While
    it stays as it is, the rate in `rates` holds."""
    found = {}
    for key, sample in now.items():
        old = before.get(key)
        if old is None or sample.calls < old.calls:  # new, or started again
            continue
        if sample.written > old.written:
            found[key] = ((sample.calls - old.calls)
                          / (sample.written - old.written))
        elif key in rates:
            found[key] = rates[key]
    return found


def _most(amounts: Mapping[str, float]) -> str:
    """The rank with the largest amount, if any has some."""
    if not amounts or max(amounts.values()) == 0:
        return ""
    return max(amounts, key=lambda rank: amounts[rank])


def _digits(value: float, digits: int) -> str:
    """At least so many digits, and no exponent."""
    return (f"{value:.0f}" if value >= 10 ** (digits - 1)
            else f"{value:.{digits}g}")


def _row(rank: int, sample: Sample, rate: Optional[float],
         clock: float) -> List[str]:
    share = sample.missing / sample.expected if sample.expected else 0
    silent = clock - sample.written
    state = ("ended" if not sample.runs
             else f"{silent:.0f}" if silent > _STALE_S else "")
    return [
        str(rank), "" if rate is None else f"{rate:.1f}", str(sample.bounded),
        str(sample.expired),
        "0" if share == 0 else f"{_digits(100 * share, 2)} %",
        _digits(sample.p50_ms, 4), _digits(sample.p99_ms, 4),
        f"{sample.repaired / 1e6:.1f}",
        f"{sum(sample.lost.values()) / 1e6:.1f}", _most(sample.lost),
        f"{max(sample.late.values(), default=0):.1f}", _most(sample.late),
        state]


_HEADINGS = ["rank", "calls/s", "bounded", "expired", "missing", "p50 ms",
             "p99 ms", "repaired MB", "lost MB", "from", "late s", "of",
             "silent s"]


def render(now: Samples, rates: Rates, clock: float) -> str:
    """The table: a line for each rank. `clock`: seconds since the epoch."""
    lines = [_HEADINGS] + [
        _row(key[0], now[key], rates.get(key), clock) for key in sorted(now)]
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths)
                  ).rstrip() for line in lines) + "\n"


def _show(folder: str, now: Samples, rates: Rates) -> None:
    if sys.stdout.isatty():
        print("\x1b[H\x1b[J", end="")  # clears the screen
    print(f"{folder}, {time.strftime('%H:%M:%S')}\n")
    print(render(now, rates, time.time()) if now else
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
                     "in GLOO_UBT_METRICS, GLOO_UBT_REPORT or --report")
    try:
        before, rates = read(arguments.folder), {}
        while True:
            time.sleep(arguments.interval)
            now = read(arguments.folder)
            rates = rates_of(now, before, rates)
            _show(arguments.folder, now, rates)
            if arguments.once:
                return 0 if now else 1
            if now and not any(sample.runs for sample in now.values()):
                return 0
            before = now
    except BrokenPipeError:  # nobody reads the table any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"error: {error.filename or arguments.folder}: {error.strerror}",
              file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
