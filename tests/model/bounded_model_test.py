# SPDX-License-Identifier: Apache-2.0
"""The rules of lead, room and failure keep their promises, and each is
needed."""

import unittest

from tests import junit_main
from tests.model.bounded_model import Job, Violation, explore


def in_order(ranks, ops):
    """One thread a rank; all call the same ops in the same order."""
    return tuple((tuple(range(ops)),) for _ in range(ranks))


def each_by_a_thread(ranks, ops):
    """As many threads as ops: ranks may begin them in any order."""
    return tuple(tuple((op,) for op in range(ops)) for _ in range(ranks))


class Promises(unittest.TestCase):

    def test_hold_while_nobody_fails(self):
        explore(Job(2, in_order(2, 4)))
        explore(Job(2, (((0, 1), (2, 3)), ((0, 1), (2, 3)))))
        explore(Job(3, in_order(3, 2), instant=True))
        explore(Job(3, in_order(3, 2), lead=2, room=1, instant=True))

    def test_hold_in_an_arena_without_room(self):
        explore(Job(2, in_order(2, 4), room=0))
        explore(Job(3, in_order(3, 2), room=0, instant=True))

    def test_hold_where_calls_time_out_and_a_rank_dies(self):
        explore(Job(2, in_order(2, 2), timeouts=True, deaths=1))
        explore(Job(3, in_order(3, 1), deaths=1))


class EachRuleIsNeeded(unittest.TestCase):

    def violation(self, job):
        with self.assertRaises(Violation) as raised:
            explore(job)
        return str(raised.exception)

    def test_a_fill_makes_replicas_differ(self):
        self.assertIn("another rank returned",
                      self.violation(Job(2, in_order(2, 1), fills=True)))

    def test_a_shard_that_is_not_kept_leaves_its_receiver_without_end(self):
        self.assertIn("no call can end",
                      self.violation(Job(2, in_order(2, 2), reserves=False)))

    def test_a_call_without_room_must_hold_its_shard(self):
        self.assertIn(
            "no call can end",
            self.violation(Job(2, in_order(2, 2), holds=False, room=0)))

    def test_a_rank_that_throws_must_tell_the_others(self):
        self.assertIn(
            "no call can end",
            self.violation(Job(2, in_order(2, 2), timeouts=True,
                               throw_is_told=False)))

    def test_an_op_that_others_have_begun_needs_no_lead(self):
        self.assertIn(
            "no call can end",
            self.violation(Job(3, each_by_a_thread(3, 2), instant=True,
                               awaited_ops_begin=False)))


if __name__ == "__main__":
    junit_main.main()
