# SPDX-License-Identifier: Apache-2.0
"""The suite itself: the commands and the programs accept its parts."""
import contextlib
import io
import os
import unittest
import unittest.mock

from bench import algorithms, compare, simulate, train
from bench.experiments import arithmetic
from bench.experiments.suite import SUITE
from tests import junit_main

WORKER = os.path.abspath("benchmark/comparison/worker")
MEASURE = os.path.abspath("benchmark/measure")
PARSERS = {"benchmark/compare": compare.parse,
           "benchmark/simulate": simulate.parse,
           "benchmark/train": train.parse}
QUICK_MINUTES, FULL_MINUTES = 10, 480


def parts(quick):
    return [part for experiment in SUITE.values()
            for part in experiment.parts(quick)]


def command(part):
    """The program of the part, and its arguments."""
    program, *argv = part.measuring
    return program, argv


def commands(program):
    return [(part, PARSERS[program]([*argv, "--json", "x.json"]))
            for part in parts(True) + parts(False)
            for own, argv in (command(part),) if own == program]


class Suite(unittest.TestCase):
    def setUp(self):
        patch = unittest.mock.patch("os.geteuid", lambda: 0)
        patch.start()
        self.addCleanup(patch.stop)

    def check(self, part, parse, argv):
        error = io.StringIO()
        with contextlib.redirect_stderr(error):
            try:
                return parse([*argv, "--json", "result.json"])
            except SystemExit:
                self.fail(f"{part.name}: {error.getvalue()}")

    def test_every_command_accepts_its_arguments(self):
        for part in parts(True) + parts(False):
            program, argv = command(part)
            if program in PARSERS:
                self.check(part, PARSERS[program], argv)
            else:
                self.assertEqual(["-m", "bench.experiments.arithmetic"],
                                 argv[:2])
                arithmetic.parse(argv[2:])

    def test_every_algorithm_exists(self):
        checked = set()
        for part, parsed in (*commands("benchmark/compare"),
                             *commands("benchmark/train")):
            key = (tuple(parsed.algorithms), parsed.ranks)
            if key not in checked:
                checked.add(key)
                with unittest.mock.patch.dict(os.environ, part.variables):
                    train_only = [name for name in parsed.algorithms
                                  if name != "gloo"]
                    algorithms.choose(WORKER, train_only, parsed.ranks)
        for _, parsed in commands("benchmark/simulate"):
            for ranks in parsed.ranks:
                key = (tuple(parsed.algorithms), ranks, parsed.groups)
                if key not in checked:
                    checked.add(key)
                    algorithms.choose(MEASURE, parsed.algorithms, ranks,
                                      "--groups", str(parsed.groups))
        self.assertGreater(len(checked), 20)

    def test_parts_of_an_experiment_have_names_of_their_own(self):
        for experiment in SUITE.values():
            for quick in (True, False):
                names = [part.name for part in experiment.parts(quick)]
                self.assertEqual(len(set(names)), len(names))

    def test_it_is_meant_to_be_as_quick_as_promised(self):
        for quick, minutes in ((True, QUICK_MINUTES), (False, FULL_MINUTES)):
            seconds = sum(part.seconds for part in parts(quick))
            self.assertLess(seconds, 60 * minutes)

    def test_only_the_lab_needs_root(self):
        found = {experiment.name for experiment in SUITE.values()
                 if any(part.needs_root for part in experiment.parts(False))}
        self.assertEqual({"goals", "stops", "sharing", "variants", "tails",
                          "accuracy", "stragglers", "costs"}, found)

    def test_what_trains_takes_another_python(self):
        found = {experiment.name for experiment in SUITE.values()
                 if any(part.trains for part in experiment.parts(False))}
        self.assertEqual({"accuracy", "harmless", "stragglers"}, found)


if __name__ == "__main__":
    junit_main.main()
