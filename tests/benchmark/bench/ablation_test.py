# SPDX-License-Identifier: Apache-2.0
"""Which jobs judge a loop, and whether it pays."""
import re
import unittest

import made_up
from bench.experiments import ablation
from bench.experiments.ablation import LOOPS, METRICS, matters, name_of
from tests import junit_main

STEP, _, MISSING, *_ = METRICS
NONE = {"repair": "none"}


def trials(names, baseline=None):
    return ablation.trials(names, baseline or {})


def seeds(*milliseconds, failed=None, **changes):
    """The figures of one job, for each seed."""
    return [{"step_mean_ms": ms, "step_slow_tenth_ms": ms,
             "loss_fraction": 0.0, "failed": failed, **changes}
            for ms in milliseconds]


def jobs(trial, plain, changed):
    return {"optireduce": plain, name_of(trial.plain): plain,
            name_of(trial.changed): changed}


def rows(name, plain, changed):
    trial, = trials([name])
    return ablation.rows([trial], {}, jobs(trial, plain, changed))


class Trials(unittest.TestCase):
    def test_every_loop_is_judged_somewhere(self):
        found = {trial.loop.name for network in ablation.NETWORKS
                 for trial in trials(network.loops, network.baseline)}
        self.assertEqual(set(LOOPS), found)

    def test_every_control_loop_can_be_switched_off(self):
        with open("transport_ubt/core/base/loop_set.h",
                  encoding="utf-8") as file:
            text = file.read()
        names = re.findall(r"^  k(\w+),", text, re.MULTILINE)
        self.assertGreater(len(names), 19)
        for name in names:
            own = re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower()
            self.assertIn(own, LOOPS)

    def test_a_loop_differs_in_its_own_settings_alone(self):
        for trial in trials(LOOPS):
            self.assertEqual({**trial.plain, **trial.loop.settings},
                             trial.changed)
            self.assertNotEqual(trial.plain, trial.changed)

    def test_a_variant_that_is_the_baseline_is_none(self):
        self.assertEqual(1, len(trials(["repair"])))
        self.assertEqual([], trials(["repair"], baseline=NONE))

    def test_some_work_only_with_another_setting(self):
        zero, = trials(["zero-loss"])
        self.assertEqual({"halt_loss": "0"}, zero.plain)
        self.assertEqual({"halt_loss": "0", "zero_loss": "0"}, zero.changed)

    def test_jobs_that_several_need_run_once(self):
        self.assertEqual(
            ["optireduce", "optireduce+halt_loss=0+zero_loss=0",
             "optireduce+halt_loss=0"],
            sorted(ablation.algorithms(
                trials(["zero-loss", "halt-loss"]), {}),
                key=lambda name: ("halt" in name, "zero" not in name)))


class Matters(unittest.TestCase):
    def test_differences_that_all_seeds_agree_on(self):
        self.assertTrue(matters(STEP, [100, 120, 110], [200, 222, 212]))

    def test_not_differences_as_large_as_between_seeds(self):
        self.assertFalse(matters(STEP, [100, 120, 110], [200, 110, 120]))

    def test_seeds_may_differ_if_differences_do_not(self):
        self.assertTrue(matters(STEP, [100, 900], [110, 911]))

    def test_not_a_trifle_however_sure(self):
        self.assertFalse(matters(STEP, [100, 100], [100.5, 100.5]))
        self.assertFalse(matters(MISSING, [0, 0], [0.00005, 0.00005]))
        self.assertTrue(matters(MISSING, [0, 0], [0.0005, 0.0005]))


class Effects(unittest.TestCase):
    def effects(self, name, plain, changed):
        trial, = trials([name])
        return {metric.name: (with_loop, without)
                for metric, with_loop, without in ablation.effects(
                    trial, jobs(trial, plain, changed))}

    def test_a_loop_that_pays_and_costs(self):
        found = self.effects("cuts", seeds(100, 101, loss_fraction=0.02),
                             seeds(300, 301, loss_fraction=0.01))
        self.assertEqual({"step ms": (100.5, 300.5),
                          "slow step ms": (100.5, 300.5),
                          "missing": (0.02, 0.01)}, found)

    def test_one_that_is_off_by_default_is_turned_round(self):
        found = self.effects("multicast", seeds(300, 300), seeds(100, 100))
        self.assertEqual((100, 300), found["step ms"])

    def test_chance_is_no_effect(self):
        self.assertEqual({}, self.effects("cuts", seeds(100, 130),
                                          seeds(120, 110)))

    def test_a_job_that_failed_has_none(self):
        self.assertEqual({}, self.effects(
            "zero-loss", seeds(100, 100), seeds(900, 900, failed="halted")))


class Rows(unittest.TestCase):
    ERRORS = {"mse": 2.0, "worst_se": 0.0, "drift_fraction": 0.0}

    def test_without_a_loop(self):
        self.assertEqual(
            [["baseline", "101.0", "101.0", "0.01"],
             ["- cuts", "202.0 x2.00*", "202.0 x2.00*", "0.01 x1.00"]],
            rows("cuts", seeds(100, 102, loss_fraction=0.01),
                 seeds(200, 204, loss_fraction=0.01)))

    def test_with_one_that_is_off_by_default(self):
        self.assertEqual("+ multicast", rows(
            "multicast", seeds(100, 100), seeds(100, 100))[-1][0])

    def test_the_other_setting_stands_above_its_loop(self):
        _, within, zero = rows(
            "zero-loss", seeds(100, 100, **self.ERRORS),
            seeds(100, 100, **{**self.ERRORS, "mse": 0.5}))
        self.assertEqual("halt_loss=0", within[0])
        self.assertEqual(["- zero-loss", "0.500 x0.25*"], [zero[0], zero[4]])

    def test_a_difference_within_the_noise_has_no_mark(self):
        row = rows("cuts", seeds(100, 150), seeds(160, 140))[-1]
        self.assertEqual("150.0 x1.20", row[1])

    def test_an_error_that_appears_has_a_mark(self):
        row = rows("cuts", seeds(1, 1), seeds(1, 1, loss_fraction=0.1))[-1]
        self.assertEqual("0.100 *", row[3])

    def test_a_job_that_failed(self):
        lines = rows("halt-loss", seeds(100, 100, failed="halted"),
                     seeds(100, 100))
        self.assertEqual(["baseline"] + 3 * ["failed"], lines[0])
        self.assertNotIn("x", "".join(lines[1][1:]))


class Show(unittest.TestCase):
    def test_a_table_for_each_network_and_where_it_pays(self):
        cuts, = trials(["cuts"])
        result = [{"algorithm": name, "by_seed": own} for name, own in jobs(
            cuts, seeds(100, 100), seeds(200, 200)).items()]
        text = made_up.shown(ablation.EXPERIMENT, {"p3": result,
                                                  "p1.5": result})
        self.assertIn("### p3: a long burst", text)
        self.assertIn("| cuts | p1.5 step ms 100.0 (200.0); p1.5 slow step ms "
                      "100.0 (200.0); p3 step ms 100.0 (200.0); p3 slow step "
                      "ms 100.0 (200.0) | nowhere |", text)
        self.assertNotIn("| window |", text)


if __name__ == "__main__":
    junit_main.main()
