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

    def test_each_rank_has_its_call_its_shard_and_its_senders(self):
        events = self.events(*map(record, range(3)))
        [call] = [event for event in events if event["pid"] == 1
                  and event["name"] == "allreduce 4 MB"]
        self.assertEqual((BEGAN + 1 - 12, 72512), (call["ts"], call["dur"]))
        [shard] = [event for event in events if event["pid"] == 1
                   and event["name"] == "own shard open"]
        self.assertEqual((BEGAN + 1, 60000), (shard["ts"], shard["dur"]))
        names = {event["tid"]: event["args"]["name"] for event in events
                 if event["name"] == "thread_name" and event["pid"] == 1}
        sent = {names[event["tid"]]: (event["ts"] - BEGAN - 1, event["dur"],
                                      event["args"]["missing"])
                for event in events if event["pid"] == 1
                and event["name"] == "contributions"}
        self.assertEqual({"from rank 0": (0, 12000, 0),
                          "from rank 2": (40000, 20000, 0)}, sent)

    def test_a_slow_call_tells_whom_it_waited_for(self):
        events = self.events(*map(record, range(3)))
        told = {event["pid"]: event["args"]["waited_last_for"]
                for event in events if event["name"].startswith("allreduce")}
        self.assertEqual("results of rank 2; its shard for data of rank 1",
                         told[0])
        self.assertEqual("results of rank 1; its shard for data of rank 2, "
                         "which began 40.0 ms late", told[2])

    def test_results_begin_when_their_owner_closes(self):
        events = self.events(*map(record, range(3)))
        [first] = [event for event in events if event["pid"] == 0
                   and event["name"] == "results" and event["tid"] == 2 + 1]
        self.assertEqual((BEGAN + 1 + 60000, 71000 - 60001),
                         (first["ts"], first["dur"]))

    def test_what_did_not_happen_is_left_out(self):
        events = self.events(record(
            0, entered_us=[0, 5, None], arrivals=[[1, 100, 4]],
            closed_us=None, results_us=[None] * 3))
        self.assertEqual(
            ["allreduce 4 MB", "contributions"],
            [event["name"] for event in events if event["ph"] == "X"])
        [call, sent] = [event for event in events if event["ph"] == "X"]
        self.assertEqual("nothing", call["args"]["waited_last_for"])
        self.assertEqual(6, sent["args"]["missing"])

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
        self.assertIn(f"no records (*.jsonl) in '{self.folder}'", err)

    def test_a_file_that_cannot_be_written_is_named(self):
        self.write(json.dumps(record(0)))
        code, _, err = self.run_it("--out", "/nowhere/x.json")
        self.assertEqual(1, code)
        self.assertIn("/nowhere/x.json: No such file", err)


if __name__ == "__main__":
    junit_main.main()
