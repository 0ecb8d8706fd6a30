# SPDX-License-Identifier: Apache-2.0
import os
import re
import tempfile
import unittest
import unittest.mock

import made_up
from bench.experiments import figures, report
from bench.experiments.store import Store
from bench.experiments.suite import SUITE
from tests import junit_main

ROWS = [made_up.row("ring_chunked", 100), made_up.row("optireduce:none", 80)]
TRAININGS = [made_up.training(algorithm, seed, accuracies)
             for algorithm, accuracies in (("ring", [0.5, 0.8, 0.8]),
                                           ("optireduce:none", [0.8] * 3),
                                           ("optireduce:broadcast",
                                            [0.1, 0.2, 0.2]))
             for seed in (1, 2)]


class Report(unittest.TestCase):
    def setUp(self):
        # The pages of docs/results are not part of these tests.
        patch = unittest.mock.patch.object(report, "TEMPLATES", "/nowhere")
        patch.start()
        self.addCleanup(patch.stop)

    def write(self, experiment, results, page=None):
        """Returns the experiment's page and the main page, for results by part.
        `page`: the earlier page."""
        with tempfile.TemporaryDirectory() as folder:
            store = Store(folder)
            for part in experiment.parts(False):
                if part.name in results:
                    store.put(experiment, part,
                              made_up.finding(part, results[part.name]))
            own = f"{experiment.name}.md"
            if page is not None:
                with open(os.path.join(folder, own), "w",
                          encoding="utf-8") as file:
                    file.write(page)
            report.write(folder, [experiment], False, store)
            texts = []
            for name in (own, report.MAIN):
                with open(os.path.join(folder, name),
                          encoding="utf-8") as file:
                    texts.append(file.read())
            for link in re.findall(r"\]\(((?:raw|pictures)[^)]*)\)",
                                   texts[0] + texts[1]):
                self.assertTrue(os.path.exists(os.path.join(folder, link)),
                                link)
            return texts

    def shown(self, name, results):
        return made_up.shown(SUITE[name], results)

    def test_text_by_hand_stays(self):
        part = made_up.part("one")
        first, *_ = self.write(made_up.experiment(part), {"one": "figures"})
        self.assertIn("figures", first)
        edited = first.replace("# Made up", "# By hand") + "\nAt the end.\n"
        second, *_ = self.write(made_up.experiment(part), {"one": "others"},
                                page=edited)
        self.assertEqual(edited.replace("figures", "others"), second)

    def test_a_page_without_the_marks_gets_them_at_its_end(self):
        text, *_ = self.write(made_up.experiment(made_up.part("one")),
                              {"one": "figures"}, page="By hand.\n")
        self.assertTrue(text.startswith("By hand.\n"))
        self.assertIn("figures", text)

    def test_a_new_page_has_no_findings_of_other_results(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "made-up.md"), "w",
                      encoding="utf-8") as file:
                file.write("# Title\n\nQuestion?\n\n## Findings\n\nIt took "
                           "long.\n\n## Limits\n\nMany.\n")
            with unittest.mock.patch.object(report, "TEMPLATES", folder):
                text, *_ = self.write(made_up.experiment(made_up.part("one")),
                                      {"one": "figures"})
        for words in ("Question?", "Many.", "figures"):
            self.assertIn(words, text)
        self.assertNotIn("It took long", text)

    def test_missing_results_are_named_and_not_shown(self):
        experiment = made_up.experiment(
            made_up.part("absent"),
            show=lambda results, page: self.fail())
        text, _ = self.write(experiment, {})
        self.assertIn("Not measured: absent.", text)

    def test_of_few_iterations_the_slowest_is_called_so(self):
        text = self.shown("stragglers", {"late-rank": ROWS})
        self.assertIn("| worst ms |", text)
        many = [{**row, "iterations": 100} for row in ROWS]
        text = self.shown("stragglers", {"late-rank": many})
        self.assertIn("| p99 ms |", text)

    def test_a_row_says_how_it_compares_and_how_to_repeat_it(self):
        text, _ = self.write(SUITE["stragglers"], {"late-rank": ROWS})
        self.assertRegex(text, r"\| optireduce:none \| 80.00 \| 240.0 \| "
                               r"3.000 \| 83.20 \| 1.250 \| 0.1 % \| 50 \|")
        self.assertIn("benchmark/compare --lab straggler", text)
        self.assertIn("| 1, 2; lab 5 |", self.write(SUITE["stragglers"], {
            "late-rank": [{**row, "seeds": 2, "lab_seed": 5,
                           "lab_rate_mbit": 500,
                           "lab_environment": "straggler"}
                          for row in ROWS]})[0])
        self.assertIn("0123456789ab", text)
        self.assertIn("2 x CPU", text)

    def test_the_same_results_give_the_same_report(self):
        first, second = (self.write(SUITE["stragglers"], {"late-rank": ROWS})
                         for _ in range(2))
        self.assertEqual(first, second)

    def test_every_picture_can_be_drawn(self):
        names = [part.name for part in SUITE["tails"].parts(False)]
        four = [made_up.row(name, 100) for name in figures.DRAWN]
        jobs = [made_up.simulated(name, ranks, 1.0) for ranks in (8, 64)
                for name in ("ring", "optireduce:none")]
        run = made_up.training("optireduce:none", 1, [0.5, 0.6, 0.7, 0.8])
        for name, results, pictures in (
                ("tails", {part: four for part in names}, 2),
                ("scale", {"ways-100-from-8": jobs}, 1),
                ("accuracy", {"fashion-clean": TRAININGS}, 1),
                ("harmless", {"random-0-plain": [run],
                              "random-5-plain": [run]}, 1),
                ("errors", {"arithmetic": made_up.sum_errors(
                    {"ring": 1, "parameter_server": 1, "transpose": 1})}, 1)):
            with self.subTest(name):
                text, *_ = self.write(SUITE[name], results)
                self.assertEqual(pictures, text.count("](pictures/"))

    def test_each_environment_of_the_tails_has_its_section(self):
        names = [part.name for part in SUITE["tails"].parts(False)]
        text = self.shown("tails", {name: ROWS for name in names})
        for environment in ("clean", "p1.5", "p3", "micro"):
            self.assertIn(f"### {environment}\n", text)
        self.assertEqual(len(names), text.count("8 ranks, 1000000 floats:"))

    def test_goals_stand_beside_bounds_and_intervals(self):
        rows = [made_up.row("ring_chunked", 110),
                made_up.row("optireduce:none", 100),
                made_up.row("optireduce:broadcast", 120)]
        disturbed = [{**row, "cpu_others_fraction": 0.2} for row in rows]
        text = self.shown("goals", {
            "clean-8-hosts-500-mbit-seed-1": rows,
            "clean-8-hosts-500-mbit-seed-2": rows,
            "micro-8-hosts-500-mbit-seed-1": rows,
            "p1.5-8-hosts-500-mbit-seed-1": disturbed})
        self.assertIn(
            "| clean | median, ring's / its | 1.030 | 1.000 | 1.100 (1.100 to "
            "1.100) |  | holds | 1.020 | 0.990 | 0.917 (0.917 to 0.917) |  | "
            "fails |", text)
        self.assertRegex(
            text, r"\| micro \| mean, ring's / its \| 1.440 \| 1.350 "
                  r"\| 1.100 \([^|]*\) \| 1.100 \| fails \|")
        self.assertIn("| clean | CPU time, its / ring's | 1.150 | 1.800 | 0.909 "
                      "(0.909 to 0.909) |  | holds |", text)
        self.assertIn("| clean | 0.04 % | 0.04 % | holds | 0.06 % | 0 |",
                      text)
        self.assertIn("| ring_chunked | 110.0 |", text)
        self.assertNotIn("p1.5", text)
        self.assertIn("Not used: 1 run, because other processes took over 5 % "
                      "of the CPUs.", text)

    def test_loopback_is_judged_by_the_best_of_gloos(self):
        times = {"ring": 40, "ring_chunked": 30, "halving_doubling": 24,
                 "bcube": 50, "optireduce": 10, "optireduce:none": 12}
        rows = [{**made_up.row(name, ms), "elements": 65536}
                for name, ms in times.items()]
        best, missing = SUITE["loopback"].claims({"4-ranks-run-1": rows})
        self.assertEqual(("1.9 (bound 2.5)", "2.400 (2.400 to 2.400)", True), (
            best.goal, best.found, best.holds))
        self.assertEqual(("at most 0.1 %", False), (missing.found,
                                                    missing.holds))
        text = self.shown("loopback", {"4-ranks-run-1": rows})
        self.assertIn("| 4 | 256 KB | 10.00 | 2.400 (2.400 to 2.400) | 2.000 "
                      "(2.000 to 2.000) | 0.333 (0.333 to 0.333) | 0.1 % |",
                      text)

    def test_shares_of_a_link(self):
        # 7 MB each way in 140 ms are 400 Mbit/s.
        rows = [{**made_up.row(name, 140), "lab_rate_mbit": 500,
                 "flow_mbit": [150], "second_mbit": None}
                for name in ("ring_chunked", "optireduce", "optireduce:none")]
        second = [{**row, "flow_mbit": [], "second_mbit": 300} for row in rows]
        results = {"tcp-flow-run-1": rows,
                   "ring-optireduce-run-1": second,
                   "optireduce-optireduce-run-1": second}
        flow, ring, ours = SUITE["sharing"].claims(results)
        self.assertEqual(("0.300", False), (flow.found, flow.holds))
        self.assertEqual(("0.800, 0.600", True), (ring.found, ring.holds))
        self.assertEqual(("1.333", False), (ours.found, ours.holds))
        self.assertIn("| optireduce | 0.800 | 0.300 | 140.0 |",
                      self.shown("sharing", results))

    def test_the_rule_is_compared_with_the_best_x(self):
        def replay(rule_ms):
            return {"ops": 100, "exact": {"mean_ms": 60, "slow_tenth_ms": 200},
                    "rule": {"mean_ms": 50, "slow_tenth_ms": rule_ms,
                             "cut_late": 0.02, "cut_absent": 0.001},
                    "best_fixed": {"mean_ms": 50, "slow_tenth_ms": 100,
                                   "x": 1.5}}
        row = made_up.row("optireduce:both+cut_budget=0", 60)
        results = {
            "lab-p3-seed-11": {"row": row, "replay": replay(130)},
            "lab-p3-seed-12": {"row": {**row, "cpu_others_fraction": 0.1},
                               "replay": replay(200)},
            "simulated-p3-seed-11": {"row": {}, "replay": replay(110)}}
        score, cut, simulated, _ = SUITE["stops"].claims(results)
        self.assertEqual(("least 0.70 (p3)", False), (score.found,
                                                      score.holds))
        self.assertEqual(("most 2.1 % (p3)", True), (cut.found, cut.holds))
        self.assertEqual(("least 0.90 (p3)", True), (simulated.found,
                                                     simulated.holds))
        text = self.shown("stops", results)
        self.assertIn("| 0.700 | 100 |", text)
        self.assertIn("| 0.900 | 100 |", text)

    def test_multicast_is_compared_with_unicast(self):
        rows = [{**made_up.row(name, ms), "mse": 0.1, "worst_se": 1.0,
                 "slow_tenth_us": 3000 * ms}
                for name, ms in (("ring_chunked", 100),
                                 ("optireduce+auth=full", 100),
                                 ("optireduce+auth=full+multicast=auto", 50))]
        sent, median = SUITE["variants"].claims({"multicast-run-1": rows})
        self.assertEqual(("0.500", True), (sent.found, sent.holds))
        self.assertEqual(("0.500", True), (median.found, median.holds))
        self.assertIn("### multicast, in clean", self.shown(
            "variants", {"multicast-run-1": rows}))

    def test_errors_are_compared_with_the_papers(self):
        mse = {"ring": 0.25, "parameter_server": 0.05, "transpose": 0.05}
        results = {"arithmetic": made_up.sum_errors(mse)}
        claim, = SUITE["errors"].claims(results)
        self.assertEqual("5.9 : 4.0 : 1.0 (14.55, 9.92, 2.47)", claim.papers)
        self.assertEqual("5.0 : 1.0 : 1.0 (random); 5.0 : 1.0 : 1.0 (tail)",
                         claim.found)
        self.assertFalse(claim.holds)
        text = self.shown("errors", results)
        self.assertIn("| random, 5 % | 0.25 | 0.05 | 0.05 | 5.0 | 1.0 |", text)
        self.assertIn("| ring | off | 0.25 | 25 | 0.25 | 25 |", text)
        self.assertIn("| ring | on | 0.25 | 0.25 | 0.25 | 0.25 |", text)
        mse["parameter_server"] = 0.2
        results = {"arithmetic": made_up.sum_errors(mse)}
        claim, = SUITE["errors"].claims(results)
        self.assertEqual("5.0 : 4.0 : 1.0 (random); 5.0 : 4.0 : 1.0 (tail)",
                         claim.found)
        self.assertTrue(claim.holds)

    def test_costs_are_the_rings_and_so_many_times_these(self):
        alone = {f"alone-{name}": [made_up.row(algorithm, ms)]
                 for name, algorithm, ms in (
                     ("ring-chunked", "ring_chunked", 100),
                     ("optireduce-none", "optireduce:none", 120))}
        text = self.shown("costs", {
            "lab-1000000-floats": ROWS, "loopback": ROWS, **alone})
        self.assertIn("| optireduce:none | 0.800 | 0.80 | 6.400 | 0.80 | 1.600 "
                      "| 80.00 | 50.00 | 50 |", text)
        self.assertIn("| optireduce:none | 4 MB | 0.800 | 0.80 | 80.00 |", text)
        self.assertIn("| optireduce:none | 4 MB | 120.0 | 1.20 | 20.0 | 5.24 |",
                      text)

    def test_costs_without_the_ring_are_compared_with_nothing(self):
        text = self.shown("costs", {
            "alone-optireduce-none": [made_up.row("optireduce:none", 120)]})
        self.assertIn("| optireduce:none | 4 MB | 120.0 |  |  |  |", text)

    def test_the_mean_over_seeds_has_to_come_to_the_target(self):
        apart = [made_up.training("ring", 1, [0.5, 0.692, 0.7, 0.7]),
                 made_up.training("ring", 2, [0.5, 0.892, 0.9, 0.9])]
        text = self.shown("accuracy", {"fashion-clean": apart})
        self.assertRegex(text, r"\| ring \| 80.0 % \| 500.0 \| 500.0 \| 20.00 "
                               r"\|")

    def test_the_target_is_met_between_two_evaluations(self):
        runs = [made_up.training("ring", 1, [0.392, 0.592, 0.8, 0.8])]
        text = self.shown("accuracy", {
            "fashion-clean": runs, "fashion-p3": [
                *runs, made_up.training("optireduce:none", 1, [0.392, 1])]})
        self.assertIn("Target: an accuracy of 0.792.", text)
        self.assertRegex(text, r"\| ring \| 80.0 % \| 500.0 \| 500.0 \| 29.62 "
                               r"\| 14.81 \|")
        self.assertRegex(text, r"\| optireduce:none \| 100.0 % \| 500.0 \|  "
                               r"\| 16.58 \| 8.289 \|")

    def test_steps_once_warm_are_those_after_the_exact_ones(self):
        run = made_up.training("ring", 1, [0.5, 0.6, 0.7, 0.8, 0.9])
        for point in run["accuracies"]:
            if point["step"] > 30:
                point["seconds"] -= 4
        text = self.shown("accuracy", {"fashion-clean": [run]})
        self.assertRegex(text, r"\| ring \| 90.0 % \| 500.0 \| 300.0 \|")

    def test_a_target_that_is_never_reached_has_no_time(self):
        text = self.shown("accuracy", {"fashion-clean": TRAININGS})
        self.assertIn("Target: an accuracy of 0.792.", text)
        self.assertRegex(text, r"\| optireduce:none \| 80.0 % \| 500.0 \|  "
                               r"\| 10.00 \| 5.000 \| 1.973 \| 2 % \| 2 \|")
        self.assertRegex(text, r"\| optireduce:broadcast \| 20.0 % \| 500.0 \|"
                               r"  \| never \| never \|  \| 2 % \| 2 \|")

    def test_trainings_are_compared_with_the_papers(self):
        others = [training for training in TRAININGS
                  if training["algorithm"] != "optireduce:broadcast"]
        slower = [made_up.training("ring", 1, [0.5, 0.5, 0.8]),
                  made_up.training("optireduce:none", 1, [0.5, 0.8])]
        experiment = SUITE["accuracy"]
        results = {"fashion-clean": others, "fashion-p3": slower}
        shared, own = experiment.claims(results)
        self.assertTrue(shared.found.startswith(
            "1.51 in p3 with optireduce:none (fashion 1.51"), shared.found)
        self.assertTrue(own.found.startswith("least 1.97 (fashion, "
                                             "optireduce:none"), own.found)
        self.assertEqual((True, True), (shared.holds, own.holds))
        own, = experiment.claims({"fashion-clean": TRAININGS})
        self.assertTrue(own.found.startswith("never comes to the target "
                                             "(fashion, optireduce:broadcast"))
        self.assertFalse(own.holds)
        self.assertIn("of a training over Gloo's ring in a network of its own",
                      own.what)
        text, main = self.write(experiment, results)
        for words in ("## Goals", "| holds |"):
            self.assertIn(words, text)
        # The main page has the claims of the papers, and links to their pages.
        self.assertIn("| holds | [accuracy](accuracy.md) |", main)

    def test_without_ring_in_clean_there_is_no_target(self):
        text = self.shown("accuracy", {"fashion-p3": TRAININGS})
        self.assertIn("No target", text)
        self.assertEqual([], SUITE["accuracy"].claims(
            {"fashion-p3": TRAININGS}))


if __name__ == "__main__":
    junit_main.main()
