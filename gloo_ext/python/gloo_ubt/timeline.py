# SPDX-License-Identifier: Apache-2.0
"""Turns the records of GLOO_UBT_TRACE into a timeline for Perfetto or Chrome
(the Trace Event Format, in JSON)."""

from __future__ import annotations

import argparse
import dataclasses
import glob
import itertools
import json
import os
import sys
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

_DESCRIPTION = """\
Makes one timeline of the records of all ranks: when each called an allreduce,
when contributions and results arrived, and whom it waited for last. Open the
file in https://ui.perfetto.dev or in chrome://tracing.
"""

_EPILOG = """\
A job records if GLOO_UBT_TRACE=DIR names an existing folder. On several hosts,
copy all folders into one. Hosts' times of day may differ: a result that seems
to arrive before it was sent shows by how much.
"""

Record = Dict[str, Any]
# An op of one context.
OpKey = Tuple[int, str]
Ops = Dict[OpKey, Dict[int, Record]]
Event = Dict[str, Any]

# Above the numbers of threads: Perfetto moves a thread that has its
# process's number to the front. It sorts ranks by how much they show.
_FIRST_PROCESS = 1000

# Not the reports of calls, which may lie in the same folder.
_FILES = "*-rank*.jsonl"
_KEYS = ("bytes", "slots", "entered_us", "arrivals", "called_us", "closed_us",
         "results_us", "returned_us", "began_unix_us")


def read(paths: Sequence[str]) -> Ops:
    """The records by op and rank. Leaves out a last line without an end, of a
    job that was killed. Raises ValueError that names file and line of what is
    no record."""
    ops: Ops = {}
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith("\n"):
                    break
                try:
                    record = json.loads(line)
                    for key in _KEYS:
                        record[key]
                    op = int(record["context"]), str(record["op"])
                    ops.setdefault(op, {})[int(record["rank"])] = record
                except (ValueError, KeyError, TypeError) as error:
                    raise ValueError(
                        f"{path}, line {number} is no record of a stage with "
                        "times; record with this version") from error
    return ops


def _at(record: Record, time: Optional[int]) -> Optional[int]:
    return None if time is None else record["began_unix_us"] + time


def _last(times: Sequence[Optional[int]]) -> Optional[int]:
    """The rank with the latest time, if any has one."""
    ranks = [rank for rank, time in enumerate(times) if time is not None]
    return max(ranks, key=lambda rank: times[rank] or 0) if ranks else None


def _arrived(record: Record) -> List[Optional[int]]:
    """When the last contribution of each rank came to the own shard."""
    times: List[Optional[int]] = [None] * len(record["entered_us"])
    for rank, time, _ in record["arrivals"]:
        times[rank] = time
    return times


def waited_for(ranks: Dict[int, Record], rank: int) -> str:
    """What the call of one rank waited for last, in words: the owner whose
    results came last, and the rank whose data that owner's shard waited
    for."""
    owner = _last(ranks[rank]["results_us"])
    if owner is None:
        return "nothing"
    text = f"results of rank {owner}"
    if owner not in ranks:
        return text
    sender = _last(_arrived(ranks[owner]))
    if sender is None:
        return text
    entered = ranks[owner]["entered_us"][sender]
    text += f"; its shard for data of rank {sender}"
    if entered is not None and entered > 0:
        text += f", which began {entered / 1000:.1f} ms late"
    return text


@dataclasses.dataclass(frozen=True)
class Span:
    """Something that took time, on a track of a rank's."""

    track: str
    name: str
    begin: int
    end: int
    arguments: Dict[str, Any]


def _spans(op: str, ranks: Dict[int, Record], rank: int) -> Iterator[Span]:
    record = ranks[rank]

    def span(track: str, name: str, begin: Optional[int], end: Optional[int],
             **arguments: Any) -> Iterator[Span]:
        if begin is not None and end is not None:
            yield Span(track, name, begin, max(end, begin + 1),
                       {"op": op, **arguments})

    called = _at(record, record["called_us"])
    yield from span("calls", f"allreduce {record['bytes'] / 1e6:.3g} MB",
                    called, _at(record, record["returned_us"]),
                    waited_last_for=waited_for(ranks, rank))
    yield from span("own shard", "own shard open", record["began_unix_us"],
                    _at(record, record["closed_us"]), slots=record["slots"])
    arrived = _arrived(record)
    for peer, entered in enumerate(record["entered_us"]):
        if peer == rank:
            continue
        track = f"from rank {peer}"
        complete = _at(record, arrived[peer])
        slots = sum(count for sender, _, count in record["arrivals"]
                    if sender == peer)
        yield from span(track, "contributions", _at(record, entered), complete,
                        slots=slots, missing=record["slots"] - slots)
        results = _at(record, record["results_us"][peer])
        if results is None:
            continue
        sent = (_at(ranks[peer], ranks[peer]["closed_us"])
                if peer in ranks else None)
        begin = max(time for time in (sent, complete, called, 0)
                    if time is not None)
        yield from span(track, "results", min(begin, results), results)


def _process(number: int, name: str, spans: Sequence[Span]) -> Iterator[Event]:
    """The events of one rank. Spans that overlap get lanes of their own,
    because those of one lane have to contain each other."""
    process = _FIRST_PROCESS + number

    def told(kind: str, thread: int, **arguments: Any) -> Event:
        return {"ph": "M", "name": kind, "pid": process, "tid": thread,
                "args": arguments}

    yield told("process_name", 1, name=name)
    tracks: Dict[str, List[Span]] = {}
    for span in spans:
        tracks.setdefault(span.track, []).append(span)
    threads = itertools.count(1)
    for track, own in tracks.items():
        free: List[Tuple[int, int]] = []  # by lane: its end, its thread
        for span in sorted(own, key=lambda span: span.begin):
            for lane, (end, thread) in enumerate(free):
                if end <= span.begin:
                    break
            else:
                lane, thread = len(free), next(threads)
                free.append((0, thread))
                yield told("thread_name", thread, name=track)
                yield told("thread_sort_index", thread, sort_index=thread)
            free[lane] = span.end, thread
            yield {"ph": "X", "name": span.name, "pid": process, "tid": thread,
                   "ts": span.begin, "dur": span.end - span.begin,
                   "args": span.arguments}


def events(ops: Ops) -> List[Event]:
    """The events of the timeline."""
    spans: Dict[Tuple[int, int], List[Span]] = {}
    for (context, op), ranks in sorted(ops.items()):
        for rank in sorted(ranks):
            spans.setdefault((context, rank), []).extend(
                _spans(op, ranks, rank))
    contexts = list(dict.fromkeys(context for context, _ in ops))
    found: List[Event] = []
    for number, (context, rank) in enumerate(sorted(spans), 1):
        group = (f" of group {contexts.index(context) + 1}"
                 if len(contexts) > 1 else "")
        found += _process(number, f"rank {rank}{group}",
                          spans[context, rank])
    return found


def main(argv: Sequence[str]) -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m gloo_ubt timeline", description=_DESCRIPTION,
        epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="DIR",
                        help="the folder of GLOO_UBT_TRACE")
    parser.add_argument("--out", metavar="FILE", default="timeline.json",
                        help="the timeline (default: timeline.json)")
    arguments = parser.parse_args(argv)
    paths = sorted(glob.glob(os.path.join(glob.escape(arguments.folder),
                                          _FILES)))
    if not paths:
        parser.error(f"no records ({_FILES}) in '{arguments.folder}'; name "
                     "the folder that GLOO_UBT_TRACE named")
    try:
        ops = read(paths)
        with open(arguments.out, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events(ops), "displayTimeUnit": "ms"},
                      file)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {error.filename or arguments.out}: {error.strerror}",
              file=sys.stderr)
        return 1
    print(f"{arguments.out}: {len(ops)} allreduces of {len(paths)} files")
    return 0
