# SPDX-License-Identifier: Apache-2.0
"""The events of an environment: equal for equal seeds."""
import itertools
import unittest

from bench.lab import schedule
from bench.lab.environments import ENVIRONMENTS
from tests import junit_main

WITH_BURSTS = [e for e in ENVIRONMENTS.values() if e.bursts]


def first(count, environment, seed=1, hosts=8, rate=500):
    return list(itertools.islice(
        schedule.bursts(environment, seed, hosts, rate), count))


class Bursts(unittest.TestCase):
    def test_which_environments_have_them(self):
        self.assertEqual(["p1.5", "p3", "micro"],
                         [e.name for e in WITH_BURSTS])

    def test_a_schedule_of_yesterday_is_todays(self):
        burst = first(2, ENVIRONMENTS["p3"])[1]
        self.assertEqual(
            (2.076, 0.405, (2, 1), 7, 172e6),
            (round(burst.start_s, 3), round(burst.seconds, 3), burst.sources,
             burst.victim, burst.bits_per_s))

    def test_depend_on_seed_hosts_and_environment_alone(self):
        for environment in WITH_BURSTS:
            base = first(20, environment)
            self.assertEqual(base, first(20, environment))
            self.assertNotEqual(base, first(20, environment, seed=2))
            self.assertNotEqual(base, first(20, environment, hosts=7))
        self.assertNotEqual(first(1, WITH_BURSTS[0]), first(1, WITH_BURSTS[1]))

    def test_rates_scale_with_the_link(self):
        for environment in WITH_BURSTS:
            for slow, fast in zip(first(5, environment, rate=100),
                                  first(5, environment, rate=1000)):
                self.assertAlmostEqual(10, fast.bits_per_s / slow.bits_per_s)
                self.assertEqual(slow.start_s, fast.start_s)
                self.assertEqual(slow.sources, fast.sources)

    def test_one_in_each_period_and_within_it(self):
        for environment in WITH_BURSTS:
            kind = environment.bursts
            for number, burst in enumerate(first(2000, environment)):
                offset = burst.start_s - number * kind.period_s
                self.assertGreaterEqual(offset, -1e-6)
                self.assertLessEqual(offset + burst.seconds,
                                     kind.period_s + 1e-6)
                self.assertGreaterEqual(burst.seconds, kind.seconds[0])
                self.assertLessEqual(burst.seconds, kind.seconds[1])

    def test_from_several_hosts_to_another(self):
        for environment in WITH_BURSTS:
            victims = set()
            for burst in first(200, environment, hosts=5):
                hosts = {burst.victim, *burst.sources}
                self.assertEqual(1 + environment.bursts.sources, len(hosts))
                self.assertLess(max(hosts), 5)
                victims.add(burst.victim)
            self.assertEqual(5, len(victims))

    def test_leave_a_victim_some_of_its_link(self):
        """Otherwise the ring would make no progress in p1.5 and p3."""
        for name in ("p1.5", "p3"):
            kind = ENVIRONMENTS[name].bursts
            self.assertLess(kind.sources * kind.share, 0.75)

    def test_the_fewest_hosts(self):
        for environment in WITH_BURSTS:
            hosts = environment.hosts_min
            self.assertEqual(1, len(first(1, environment, hosts=hosts)))


class Stalls(unittest.TestCase):
    def first(self, count, name, seed=1, hosts=8):
        return list(itertools.islice(
            schedule.stalls(ENVIRONMENTS[name], seed, hosts), count))

    def test_each_host_stands_still_on_its_own_account(self):
        for name in ("stalls1.5", "stalls3", "paused"):
            kind = ENVIRONMENTS[name].stalls
            events = self.first(4000, name)
            self.assertEqual(sorted(events, key=lambda e: e.at_s), events)
            gaps, lengths = [], []
            for host in range(8):
                own = [event for event in events if event.host == host]
                ends = 0.0
                for begin, end in zip(own[::2], own[1::2]):
                    self.assertTrue(begin.begins and not end.begins)
                    gaps.append(begin.at_s - ends)
                    lengths.append(end.at_s - begin.at_s)
                    ends = end.at_s
            self.assertAlmostEqual(kind.gap_s, sum(gaps) / len(gaps),
                                   delta=0.1 * kind.gap_s)
            self.assertGreaterEqual(min(lengths), kind.seconds[0] - 1e-6)
            self.assertLessEqual(max(lengths), kind.seconds[1] + 1e-6)
            # At most a tenth of the capacity is gone.
            self.assertLess(sum(lengths), 0.1 * (sum(lengths) + sum(gaps)))

    def test_depend_on_seed_and_hosts_alone(self):
        base = self.first(20, "paused")
        self.assertEqual(base, self.first(20, "paused"))
        self.assertNotEqual(base, self.first(20, "paused", seed=2))
        self.assertNotEqual(base, self.first(20, "paused", hosts=7))


class Others(unittest.TestCase):
    def test_flows_go_to_one_host_from_others(self):
        mixed = ENVIRONMENTS["mixed"]
        flows = schedule.flows(mixed, 1, 8, 3)
        self.assertEqual(flows, schedule.flows(mixed, 1, 8, 3))
        self.assertEqual(1, len({flow.victim for flow in flows}))
        self.assertEqual(4, len({flow.source for flow in flows}
                                | {flow.victim for flow in flows}))
        self.assertEqual((), schedule.flows(mixed, 1, 8, 0))
        self.assertNotEqual(
            len({schedule.flows(mixed, seed, 8, 1) for seed in range(20)}), 1)

    def test_another_rank_than_0_is_late(self):
        straggler = ENVIRONMENTS["straggler"]
        ranks = {schedule.late(straggler, seed, 4).who for seed in range(50)}
        self.assertEqual({1, 2, 3}, ranks)
        self.assertEqual(1, schedule.late(straggler, 5, 2).who)
        self.assertIsNone(schedule.late(ENVIRONMENTS["clean"], 1, 8))
        self.assertEqual(
            ["any", "each"],
            [schedule.late(ENVIRONMENTS[name], 1, 8).who
             for name in ("varying", "varying10")])


if __name__ == "__main__":
    junit_main.main()
