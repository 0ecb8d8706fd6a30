# SPDX-License-Identifier: Apache-2.0
"""Turns the records of GLOO_UBT_TRACE into a timeline for Perfetto or Chrome
(the Trace Event Format, in JSON)."""

from __future__ import annotations

import argparse
import glob
import json
import os
import sys
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

_DESCRIPTION = """\
Makes one timeline of what all ranks recorded: when each called an allreduce,
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

# Threads of a rank's process in the timeline. The senders' follow.
_CALLS, _SHARD, _SENDERS = 0, 1, 2


def read(paths: Sequence[str]) -> Ops:
    """The records by op and rank. Raises ValueError that names file and line of
    what is no record."""
    ops: Ops = {}
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                try:
                    record = json.loads(line)
                    key = record["context"], record["op"]
                    int(record["began_unix_us"])
                    len(record["results_us"])
                    ops.setdefault(key, {})[int(record["rank"])] = record
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
    """What the call of one rank waited for last, in words. Of the owners whose
    results came last, what their shards waited for."""
    record = ranks[rank]
    owner = _last(record["results_us"])
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


def _span(name: str, rank: int, thread: int, begin: Optional[int],
          end: Optional[int], **arguments: Any) -> Iterator[Event]:
    if begin is not None and end is not None:
        yield {"ph": "X", "name": name, "pid": rank, "tid": thread,
               "ts": begin, "dur": max(end - begin, 1), "args": arguments}


def _of_call(op: str, ranks: Dict[int, Record], rank: int) -> Iterator[Event]:
    record = ranks[rank]
    size = f"{record['bytes'] / 1e6:.3g} MB"
    called = _at(record, record["called_us"])
    closed = _at(record, record["closed_us"])
    yield from _span(f"allreduce {size}", rank, _CALLS, called,
                     _at(record, record["returned_us"]), op=op,
                     waited_last_for=waited_for(ranks, rank))
    yield from _span("own shard open", rank, _SHARD, record["began_unix_us"],
                     closed, op=op, slots=record["slots"])
    arrived = _arrived(record)
    for peer, entered in enumerate(record["entered_us"]):
        if peer == rank:
            continue
        thread = _SENDERS + peer
        complete = _at(record, arrived[peer])
        slots = sum(count for sender, _, count in record["arrivals"]
                    if sender == peer)
        yield from _span("contributions", rank, thread, _at(record, entered),
                         complete, op=op, slots=slots,
                         missing=record["slots"] - slots)
        results = _at(record, record["results_us"][peer])
        sent = None
        if peer in ranks:
            sent = _at(ranks[peer], ranks[peer]["closed_us"])
        begin = max(time for time in (sent, complete, called, 0)
                    if time is not None)
        if results is not None:
            yield from _span("results", rank, thread, min(begin, results),
                             results, op=op)


def _names(ranks: Dict[int, int]) -> Iterator[Event]:
    """Names of processes and threads. `ranks`: how many senders each has."""
    def name(kind: str, rank: int, thread: int, text: str) -> Event:
        return {"ph": "M", "name": kind, "pid": rank, "tid": thread,
                "args": {"name": text}}

    for rank, senders in sorted(ranks.items()):
        yield name("process_name", rank, 0, f"rank {rank}")
        yield name("thread_name", rank, _CALLS, "calls")
        yield name("thread_name", rank, _SHARD, "own shard")
        for peer in range(senders):
            if peer != rank:
                yield name("thread_name", rank, _SENDERS + peer,
                           f"from rank {peer}")


def events(ops: Ops) -> List[Event]:
    """The events of the timeline."""
    found: List[Event] = []
    senders: Dict[int, int] = {}
    for (_, op), ranks in sorted(ops.items()):
        for rank, record in ranks.items():
            senders[rank] = max(senders.get(rank, 0),
                                len(record["entered_us"]))
            found += _of_call(op, ranks, rank)
    return list(_names(senders)) + found


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
                                          "*.jsonl")))
    if not paths:
        parser.error(f"no records (*.jsonl) in '{arguments.folder}'; name the "
                     "folder that GLOO_UBT_TRACE named")
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
