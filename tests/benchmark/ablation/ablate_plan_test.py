# SPDX-License-Identifier: Apache-2.0
import unittest

from ablate_lib import environments, plan
from ablate_lib.environments import parse
from ablate_lib.loops import LOOPS, REPAIR
from tests import junit_main

BROADCAST, NONE = REPAIR["broadcast"], REPAIR["none"]


def trials(names, environments, baseline=BROADCAST):
    return plan.trials([LOOPS[name] for name in names],
                       [parse(name) for name in environments], baseline)


class Loops(unittest.TestCase):
    def test_each_is_judged_in_some_environment_by_default(self):
        found = trials(LOOPS, environments.DEFAULT)
        self.assertEqual(set(LOOPS), {trial.loop.name for trial in found})


class Trials(unittest.TestCase):
    def test_every_loop_differs_in_its_own_settings_alone(self):
        for trial in trials(LOOPS, ["lossy:0.3"]):
            for plain, changed, own in (
                    (trial.plain.lab, trial.changed.lab,
                     trial.loop.change.lab),
                    (trial.plain.simulator, trial.changed.simulator,
                     trial.loop.change.simulator)):
                with self.subTest(loop=trial.loop.name):
                    self.assertTrue(own)
                    self.assertEqual({**plain, **own}, changed)
                    self.assertNotEqual(plain, changed)

    def test_a_variant_that_is_the_baseline_is_none(self):
        self.assertEqual(1, len(trials(["repair"], ["p3"])))
        self.assertEqual([], trials(["repair"], ["p3"], NONE))

    def test_safeguards_are_judged_where_much_is_lost(self):
        names = [trial.environment.name for trial in trials(
            ["zero-loss"], ["clean", "lossy", "lossy:0.6"])]
        self.assertEqual(["lossy:0.6"], names)

    def test_other_loops_where_less_is(self):
        names = [trial.environment.name for trial in trials(
            ["early"], ["clean", "lossy:0.05", "lossy:0.6"])]
        self.assertEqual(["clean", "lossy:0.05"], names)

    def test_some_work_only_beside_another_setting(self):
        fill, = trials(["fill"], ["p3"])
        self.assertEqual({"GLOO_UBT_REPAIR": "none"}, dict(fill.plain.lab))
        self.assertEqual({"GLOO_UBT_REPAIR": "none",
                          "GLOO_UBT_FILL": "zero"}, dict(fill.changed.lab))


class Changes(unittest.TestCase):
    def test_jobs_that_several_need_run_once(self):
        found = plan.changes(trials(["early", "repair", "fill"], ["p3"]),
                             BROADCAST)
        # The baseline, early's, repair's (which is also fill's baseline), and
        # fill's.
        self.assertEqual(4, len(found))
        self.assertEqual(BROADCAST, found[0])
        self.assertEqual(1, sum(dict(change.lab) == dict(NONE.lab)
                                for change in found))


if __name__ == "__main__":
    junit_main.main()
