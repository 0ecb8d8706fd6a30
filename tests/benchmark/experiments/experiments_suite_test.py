# SPDX-License-Identifier: Apache-2.0
"""The suite itself: the front ends accept its commands."""
import contextlib
import io
import unittest
import unittest.mock

from ablate_lib import arguments as ablate
from compare_lib import arguments as compare
from experiments_lib.suite import SUITE
from simulate_lib import arguments as simulate
from sum_errors_lib import arguments as sum_errors
from tests import junit_main
from train_lib import arguments as train

PARSERS = {"benchmark/ablate": ablate.parse,
           "benchmark/compare": compare.parse,
           "benchmark/simulate": simulate.parse,
           "benchmark/sum_errors": sum_errors.parse,
           "benchmark/train": train.parse}
QUICK_MINUTES, FULL_MINUTES = 10, 150


def parts(quick):
    return [part for experiment in SUITE.values()
            for part in experiment.parts(quick)]


class Suite(unittest.TestCase):
    def test_every_command_is_one_that_its_front_end_takes(self):
        for part in parts(True) + parts(False):
            program, *argv = part.command
            error = io.StringIO()
            with unittest.mock.patch("os.geteuid", lambda: 0), \
                    unittest.mock.patch.dict("os.environ", part.variables), \
                    contextlib.redirect_stderr(error):
                try:
                    PARSERS[program]([*argv, "--json", "result.json"])
                except SystemExit:
                    self.fail(f"{part.name}: {error.getvalue()}")

    def test_parts_of_an_experiment_have_names_of_their_own(self):
        for experiment in SUITE.values():
            for quick in (True, False):
                names = [part.name for part in experiment.parts(quick)]
                self.assertEqual(len(set(names)), len(names))

    def test_it_is_meant_to_be_as_quick_as_promised(self):
        for quick, minutes in ((True, QUICK_MINUTES), (False, FULL_MINUTES)):
            seconds = sum(part.seconds for part in parts(quick))
            self.assertLess(seconds, 60 * minutes)


if __name__ == "__main__":
    junit_main.main()
