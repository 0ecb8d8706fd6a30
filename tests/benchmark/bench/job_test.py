# SPDX-License-Identifier: Apache-2.0
"""The start and end of ranks, with scripts instead of a training."""
import os
import sys
import time
import unittest
import unittest.mock

import waiting
from bench import second_job
from bench.job import Job
from front_end.errors import UserError
from tests import junit_main
from tests.support.processes import is_alive

_LIMIT_S = 30


def job(script, ranks=2, **variables):
    """`script` finds its rank in `rank` and the log's path in `log`."""
    head = ("import os, signal, sys, time\n"
            "rank, log = int(os.environ['RANK']), sys.argv[-1]\n")
    return Job([sys.executable, "-c", head + script], ranks, variables)


class JobTest(unittest.TestCase):
    def test_lines_of_the_log(self):
        with job("if rank == 0:\n"
                 "  file = open(log, 'w')\n"
                 "  for i in range(3):\n"
                 "    print('{\"i\":', end='', file=file, flush=True)\n"
                 "    print(i, '}', file=file, flush=True)\n") as ranks:
            self.assertEqual([{"i": 0}, {"i": 1}, {"i": 2}],
                             list(ranks.lines()))

    def test_what_a_rank_knows(self):
        with unittest.mock.patch.dict(os.environ, {"THEIRS": "yes"}):
            with job("print(rank, *(os.environ.get(name, '-') for name in ("
                     "'WORLD_SIZE', 'MASTER_ADDR', 'OMP_NUM_THREADS', 'OWN', "
                     "'THEIRS')))", ranks=3, OWN="1") as ranks:
                list(ranks.lines())
                self.assertEqual(["0 3 127.0.0.1 1 1 yes"], ranks.said())

    def test_one_that_fails_ends_all_and_is_named(self):
        started = time.monotonic()
        with self.assertRaises(UserError) as raised:
            with job("if rank == 1: sys.exit('out of luck')\n"
                     "time.sleep(60)") as ranks:
                pids = ranks.pids()
                list(ranks.lines())
        self.assertLess(time.monotonic() - started, _LIMIT_S)
        self.assertIn("rank 1 ended with exit code 1: out of luck",
                      str(raised.exception))
        self.assertNotIn("rank 0", str(raised.exception))
        self.assertEqual([], list(filter(is_alive, pids)))

    def test_one_that_was_killed_is_blamed_for_the_others(self):
        with self.assertRaisesRegex(
                UserError, "^rank 1 was ended by SIGKILL and said nothing"):
            with job("if rank == 1: os.kill(os.getpid(), signal.SIGKILL)\n"
                     "time.sleep(0.2); sys.exit(1)") as ranks:
                list(ranks.lines())

    def test_one_that_does_not_want_to_end(self):
        with job("signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                 "if rank == 0: print('{}', file=open(log, 'w'), flush=True)\n"
                 "time.sleep(60)") as ranks:
            pids = ranks.pids()
            next(ranks.lines())
        self.assertEqual([], list(filter(is_alive, pids)))

    def test_one_that_goes_on_after_the_others(self):
        with self.assertRaisesRegex(UserError, "^rank 1 does not end, .*rank "
                                    "0 did"):
            with job("if rank == 1: time.sleep(60)") as ranks:
                ranks.end_together_s = 0.5
                list(ranks.lines())

    def test_new_lines_are_there_without_waiting_for_all(self):
        with job("if rank == 0:\n"
                 "  file = open(log, 'w')\n"
                 "  print('{\"i\": 1}\\n{', end='', file=file, flush=True)\n"
                 "time.sleep(60)") as ranks:
            self.assertEqual([{"i": 1}], ranks.new_lines(_LIMIT_S))
            self.assertEqual([], ranks.new_lines(0))
            self.assertFalse(ranks.has_ended())

    def test_a_command_that_is_not_there(self):
        with self.assertRaisesRegex(UserError, "/nowhere/python"):
            with Job(["/nowhere/python"], 2, {}) as ranks:
                list(ranks.lines())



class SecondJobTest(unittest.TestCase):
    PROGRESS = ("if rank == 0:\n"
                "  file = open(log, 'w')\n"
                "  print('{\"event\": \"progress\"}', file=file, flush=True)\n")

    def second(self, script):
        started = self.enterContext(job(script, ranks=2))
        return second_job.SecondJob(started, ranks=2, bytes_each=1000)

    def test_counts_between_its_reports(self):
        def report(iterations, elapsed_s):
            return {"event": "progress", "iterations": iterations,
                    "elapsed_s": elapsed_s}
        made_up = unittest.mock.Mock()
        made_up.has_ended.return_value = False
        made_up.new_lines.side_effect = [
            [{"event": "connected"}], [report(7, 1)], [],
            [report(20, 3), report(24, 3.5), report(30, 4)],
            [report(31, 5)]]
        found = second_job.SecondJob(made_up, ranks=2, bytes_each=1000)
        found.warm_up()
        self.assertEqual((0, 0), found.since_last_call())
        self.assertEqual((10000, 1), found.since_last_call())
        self.assertEqual((0, 0), found.since_last_call())

    def test_fails_before_it_is_warm(self):
        with self.assertRaisesRegex(UserError, "second job.*out of luck"):
            self.second("sys.exit('out of luck')").warm_up()

    def test_fails_later(self):
        found = self.second(self.PROGRESS + "time.sleep(0.3)\n"
                            "if rank == 1: sys.exit('out of luck')\n"
                            "time.sleep(60)")
        found.warm_up()
        with self.assertRaisesRegex(UserError, "second job.*out of luck"):
            waiting.wait_for(lambda: any(found.since_last_call()),
                             _LIMIT_S)

    def test_must_not_end(self):
        with self.assertRaisesRegex(UserError, "second job.* has ended"):
            self.second("pass").warm_up()


if __name__ == "__main__":
    junit_main.main()
