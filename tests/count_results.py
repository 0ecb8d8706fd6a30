#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts test cases in the result files that one `bazel test` names.

Every case of every shard counts once. A target without a result file, or one
that failed although no case of it did (a crash, a time-out), counts as one
failure, so that nothing is lost.
"""
import json
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree


def cases(path):
    """Yields (name, passed, skipped) for each case in a JUnit XML file."""
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = f"{case.get('classname', '')}.{case.get('name', '')}"
        failed = (case.find("failure") is not None
                  or case.find("error") is not None)
        skipped = (case.find("skipped") is not None
                   or case.get("status") == "notrun")
        yield name, not failed, skipped


def main(events_path):
    passed = failed = skipped = 0
    with open(events_path, encoding="utf-8") as events:
        for line in events:
            event = json.loads(line)
            result = event.get("testResult")
            if result is None:
                continue
            label = event["id"]["testResult"]["label"]
            xml = [output["uri"] for output in result["testActionOutput"]
                   if output["name"] == "test.xml"]
            failed_here = 0
            if xml:
                path = urllib.parse.unquote(
                    urllib.parse.urlparse(xml[0]).path)
                try:
                    for name, case_passed, case_skipped in cases(path):
                        if case_skipped:
                            skipped += 1
                            print(f"SKIPPED {label} {name}")
                        elif case_passed:
                            passed += 1
                        else:
                            failed_here += 1
                            print(f"FAILED {label} {name}")
                except (OSError, ElementTree.ParseError) as error:
                    print(f"FAILED {label}: no readable result: {error}")
                    failed_here += 1
            if result["status"] != "PASSED" and failed_here == 0:
                print(f"FAILED {label}: {result['status']}")
                failed_here = 1
            failed += failed_here
    if skipped:
        print(f"{skipped} skipped, named above")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
