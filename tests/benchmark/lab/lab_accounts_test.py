# SPDX-License-Identifier: Apache-2.0
"""Checks of a network against its name, and the lab's fields of rows."""
import dataclasses
import unittest

from compare_lib import in_lab, table
from lab_lib.environments import ENVIRONMENTS
from lab_lib.settings import Settings
from tests import junit_main


def settings(name):
    return Settings(ENVIRONMENTS[name])


def row(p50=117000, p99=351000, iterations=100, **changes):
    return {"algorithm": "ring_chunked", "elements": 1000000, "p50_us": p50,
            "p99_us": p99, "iterations": iterations,
            "cpu_others_fraction": 0.31, "cpu_idle_fraction": 0.02, **changes}


class Check(unittest.TestCase):
    def test_as_it_should_be(self):
        check = in_lab.check(settings("p3"), [row(algorithm="ring"), row()])
        self.assertEqual("ring_chunked's P99/50 here: 3.00 (p3: 2.5 to 3.5)",
                         check.text)
        self.assertIsNone(check.warning)

    def test_off(self):
        for name, p99 in (("p3", 200000), ("p3", 500000), ("clean", 200000),
                          ("p1.5", 351000)):
            warning = in_lab.check(settings(name), [row(p99=p99)]).warning
            self.assertIn(f"not {name}", warning)
            self.assertIn("took 31% meanwhile, and 2% were idle", warning)

    def test_too_few_to_tell(self):
        warning = in_lab.check(settings("p3"), [row(iterations=20)]).warning
        self.assertIn("too few", warning)
        self.assertIn("--seconds", warning)

    def test_promised_for_one_network_alone(self):
        others = dataclasses.replace(settings("p3"), hosts=4)
        check = in_lab.check(others, [row(p99=200000)])
        self.assertIn("with 8 hosts at 500 Mbit/s", check.text)
        self.assertIsNone(check.warning)

    def test_nothing_to_say(self):
        self.assertIsNone(in_lab.check(settings("micro"), [row()]))
        self.assertIsNone(in_lab.check(settings("p3"), [row(elements=5)]))
        self.assertIsNone(
            in_lab.check(settings("p3"), [row(algorithm="transpose")]))


class Worker(unittest.TestCase):
    def test_only_a_straggler_is_late(self):
        self.assertNotIn("--late-rank", in_lab.worker_options(settings("p3")))
        options = in_lab.worker_options(settings("straggler"))
        late = settings("straggler").lateness().host
        self.assertEqual(str(late), options[options.index("--late-rank") + 1])
        self.assertEqual("0.3", options[options.index("--late-seconds") + 1])

    def test_anyone_is_late_where_ranks_take_turns(self):
        options = in_lab.worker_options(settings("varying"))
        self.assertIn("--late-anyone", options)
        self.assertNotIn("--late-rank", options)


class Table(unittest.TestCase):
    ROW = {
        "algorithm": "ring", "transport": "tcp", "bytes": 4000000,
        "iterations": 15, "p50_us": 1234.5, "p90_us": 20000.0,
        "p99_us": 300000.0, "p999_us": None, "algbw_bytes_per_s": 2.5e8,
        "busbw_bytes_per_s": 3.75e8, "cpu_s_per_gb": 1.25,
        "loss_fraction": 0.0, "verified": True, "lab_environment": "mixed",
        "wire_fraction": 0.9321, "cpu_idle_fraction": 0.255,
        "cpu_others_fraction": 0.0, "flow_mbit": []}

    def test_has_the_labs_columns(self):
        heading, _, line = table.render([self.ROW]).splitlines()
        self.assertEqual(["wire", "CPU", "idle", "others'"],
                         heading.split()[-4:])
        self.assertEqual(["yes", "0.932", "0.26", "0.00"], line.split()[-4:])

    def test_and_its_flows(self):
        text = table.render([{**self.ROW, "flow_mbit": [203.4, 99.9]}])
        self.assertIn("flow Mbit/s", text)
        self.assertEqual("203+100", text.split()[-1])


if __name__ == "__main__":
    junit_main.main()
