# SPDX-License-Identifier: Apache-2.0
"""python -m gloo_ubt timeline"""
import contextlib
import io
import json
import os
import tempfile
import unittest

from gloo_ubt import timeline
from tests import junit_main

BEGAN = 1700000000000000


def record(rank, **changes):
    """Of an op of three ranks, at one of them. Rank 2 enters 40 ms late, so
    shards close late."""
    return {"context": 77, "op": "0.7.3", "bytes": 4000000, "rank": rank,
            "slots": 10, "entered_us": [0, -12, 40000],
            "through_us": [None, None, None],
            "arrivals": [[peer, 1000 * time, 5] for peer, time in (
                (0, 10), (1, 11), (0, 12), (1, 13), (2, 50), (2, 60))
                         if peer != rank],
            "began_unix_us": BEGAN + rank, "called_us": -12,
            "closed_us": 60000, "results_us": [
                None if peer == rank else 70000 + 1000 * peer
                for peer in range(3)],
            "returned_us": 72500, **changes}


class Timeline(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, *lines):
        for number, line in enumerate(lines):
            path = os.path.join(self.folder, f"77-rank{number}.jsonl")
            with open(path, "w", encoding="utf-8") as file:
                file.write(line + "\n")

    def run_it(self, *argv):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = timeline.main([self.folder, *argv])
            except SystemExit as end:
                code = end.code
        return code, out.getvalue(), err.getvalue()

    def events(self, *records):
        self.write(*map(json.dumps, records))
        path = os.path.join(self.folder, "out.json")
        code, out, err = self.run_it("--out", path)
        self.assertEqual((0, ""), (code, err))
        self.assertIn(f"{path}: 1 allreduces of {len(records)} files", out)
        with open(path, encoding="utf-8") as file:
            return json.load(file)["traceEvents"]

    def spans(self, events, rank, name):
        """Those of one rank: by track, (begin, duration, arguments)."""
        [process] = [event["pid"] for event in events
                     if event["name"] == "process_name"
                     and event["args"]["name"] == rank]
        tracks = {event["tid"]: event["args"]["name"] for event in events
                  if event["name"] == "thread_name"
                  and event["pid"] == process}
        found = {}
        for event in events:
            if event["pid"] == process and event["name"] == name:
                found.setdefault(tracks[event["tid"]], []).append(
                    (event["ts"] - BEGAN, event["dur"], event["args"]))
        return found

    def test_each_rank_has_its_call_its_shard_and_its_senders(self):
        events = self.events(*map(record, range(3)))
        [call] = self.spans(events, "rank 1", "allreduce 4 MB")["calls"]
        self.assertEqual((1 - 12, 72512), call[:2])
        [shard] = self.spans(events, "rank 1", "own shard open")["own shard"]
        self.assertEqual((1, 60000), shard[:2])
        sent = self.spans(events, "rank 1", "contributions")
        self.assertEqual({"from rank 0": (1, 12000),
                          "from rank 2": (40001, 20000)},
                         {track: one[:2] for track, [one] in sent.items()})
        self.assertEqual(0, sent["from rank 0"][0][2]["missing"])

    def test_a_slow_call_tells_whom_it_waited_for(self):
        events = self.events(*map(record, range(3)))
        for rank, told in (
                (0, "results of rank 2; its shard for data of rank 1"),
                (2, "results of rank 1; its shard for data of rank 2, which "
                    "began 40.0 ms late")):
            [call] = self.spans(events, f"rank {rank}",
                                "allreduce 4 MB")["calls"]
            self.assertEqual(told, call[2]["waited_last_for"])

    def test_results_begin_when_their_owner_closes(self):
        events = self.events(*map(record, range(3)))
        [first] = self.spans(events, "rank 0", "results")["from rank 1"]
        self.assertEqual((1 + 60000, 71000 - 60001), first[:2])

    def test_calls_that_overlap_have_lanes_of_their_own(self):
        events = timeline.events({
            (77, f"0.{tag}.0"): {0: record(0, began_unix_us=BEGAN + after)}
            for tag, after in enumerate((0, 30000, 90000))})
        spans = [event for event in events if event["ph"] == "X"]
        lanes = {}
        for event in spans:
            lanes.setdefault(event["tid"], []).append(event)
        for lane in lanes.values():
            for one, other in zip(lane, lane[1:]):
                self.assertLessEqual(one["ts"] + one["dur"], other["ts"])
        self.assertEqual(2, len({event["tid"] for event in spans
                                 if event["name"].startswith("allreduce")}))

    def test_ranks_of_several_groups_stay_apart(self):
        events = timeline.events({(77, "0.1.0"): {0: record(0)},
                                  (5, "0.1.0"): {0: record(0)}})
        self.assertEqual(
            {"rank 0 of group 1", "rank 0 of group 2"},
            {event["args"]["name"] for event in events
             if event["name"] == "process_name"})

    def test_tracks_of_a_rank_stand_in_the_order_of_a_call(self):
        events = self.events(*map(record, range(3)))
        first = [event for event in events if event["pid"] == events[0]["pid"]]
        names = {event["tid"]: event["args"]["name"] for event in first
                 if event["name"] == "thread_name"}
        order = {event["tid"]: event["args"]["sort_index"] for event in first
                 if event["name"] == "thread_sort_index"}
        self.assertEqual(["calls", "own shard", "from rank 1", "from rank 2"],
                         [names[tid] for tid in sorted(names, key=order.get)])
        # Perfetto would move such a thread to the front.
        self.assertFalse({event["pid"] for event in events}
                         & {event["tid"] for event in events})

    def test_reports_in_the_same_folder_are_no_records(self):
        with open(os.path.join(self.folder, "rank0.jsonl"), "w",
                  encoding="utf-8") as file:
            file.write('{"tag": 1}\n')
        self.assertTrue(self.events(*map(record, range(3))))

    def test_what_did_not_happen_is_left_out(self):
        events = self.events(record(
            0, entered_us=[0, 5, None], arrivals=[[1, 100, 4]],
            closed_us=None, results_us=[None] * 3))
        [call, sent] = [event for event in events if event["ph"] == "X"]
        self.assertEqual(("allreduce 4 MB", "contributions"),
                         (call["name"], sent["name"]))
        self.assertEqual("nothing", call["args"]["waited_last_for"])
        self.assertEqual(6, sent["args"]["missing"])

    def test_the_unfinished_line_of_a_killed_job_is_left_out(self):
        self.write(json.dumps(record(0)) + "\n" + json.dumps(record(0))[:99])
        path = os.path.join(self.folder, "77-rank0.jsonl")
        with open(path, "r+", encoding="utf-8") as file:
            text = file.read()
            file.truncate(len(text) - 1)
        code, out, err = self.run_it("--out", os.path.join(self.folder, "o"))
        self.assertEqual((0, ""), (code, err))

    def test_other_text_is_named(self):
        old = record(0)
        del old["began_unix_us"]
        for text in "{", "[1]", "3", json.dumps(old):
            self.write(json.dumps(record(0)), text)
            code, _, err = self.run_it()
            self.assertEqual(1, code)
            self.assertIn("77-rank1.jsonl, line 1 is no record", err)

    def test_a_folder_without_records_is_named(self):
        code, _, err = self.run_it()
        self.assertEqual(2, code)
        self.assertIn(f"no records (*-rank*.jsonl) in '{self.folder}'", err)

    def test_a_file_that_cannot_be_written_is_named(self):
        self.write(json.dumps(record(0)))
        code, _, err = self.run_it("--out", "/nowhere/x.json")
        self.assertEqual(1, code)
        self.assertIn("/nowhere/x.json: No such file", err)


if __name__ == "__main__":
    junit_main.main()
