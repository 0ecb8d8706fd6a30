#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts test cases in the result files that runs of `bazel test` name.

Usage: count_results.py EVENTS.json...   (of --build_event_json_file)

Every case of every shard counts once. Three things count as one failure each:
a target without a result file, a target that failed without a failed case (a
crash, a time-out), and a run of Bazel that reports no test. So no failure is
lost. Exits with 1 unless something passed and nothing failed.
"""
import json
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree


class Count:
    """Counts of passed, failed and skipped cases."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def fail(self, what):
        """Counts a failure of `what` and prints it."""
        print(f"FAILED {what}")
        self.failed += 1

    def add_file(self, label, path):
        """Adds the cases of a JUnit XML file."""
        try:
            found = list(ElementTree.parse(path).getroot().iter("testcase"))
        except (OSError, ElementTree.ParseError) as error:
            self.fail(f"{label}: no readable result: {error}")
            return
        for case in found:
            name = f"{case.get('classname', '')}.{case.get('name', '')}"
            if (case.find("failure") is not None
                    or case.find("error") is not None):
                self.fail(f"{label} {name}")
            elif (case.find("skipped") is not None
                  or case.get("status") == "notrun"):
                print(f"SKIPPED {label} {name}")
                self.skipped += 1
            else:
                self.passed += 1

    def add_result(self, label, result):
        """Adds the result of one shard of one target."""
        failed_before = self.failed
        for output in result["testActionOutput"]:
            if output["name"] == "test.xml":
                self.add_file(label, urllib.parse.unquote(
                    urllib.parse.urlparse(output["uri"]).path))
        if result["status"] != "PASSED" and self.failed == failed_before:
            self.fail(f"{label}: {result['status']}")

    def add_run(self, events_path):
        """Adds everything that one run of `bazel test` reported."""
        results = 0
        try:
            with open(events_path, encoding="utf-8") as events:
                for line in events:
                    event = json.loads(line)
                    if "testResult" in event:
                        results += 1
                        self.add_result(event["id"]["testResult"]["label"],
                                        event["testResult"])
        except (OSError, ValueError) as error:  # Bazel was killed
            self.fail(f"bazel: its report breaks off: {error}")
        else:
            if results == 0:
                self.fail("bazel: it reported no test; see its output above")


def main(paths):
    """Counts all files; returns the exit code."""
    count = Count()
    for path in paths:
        count.add_run(path)
    if count.skipped:
        print(f"{count.skipped} skipped, named above")
    print(f"{count.passed} passed, {count.failed} failed")
    return 1 if count.failed or count.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
