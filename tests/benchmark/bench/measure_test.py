# SPDX-License-Identifier: Apache-2.0
"""Measured parts, kept results, and the effects of a failure."""
import contextlib
import dataclasses
import io
import lzma
import os
import tempfile
import unittest
import unittest.mock

import made_up
from bench.experiments import measure
from bench.experiments.store import Store
from tests import junit_main


class Measure(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.store = Store(folder.name)

    def measure(self, experiment):
        """Returns the number of parts to measure, and those that failed."""
        wanted = measure.missing(measure.steps([experiment], False),
                                 self.store)
        with contextlib.redirect_stderr(io.StringIO()):
            return len(wanted), measure.measure(wanted, self.store)

    def test_a_finding_says_where_it_comes_from(self):
        part = made_up.part("one", "json.dump(os.environ['X'], file)", X="y")
        experiment = made_up.experiment(part)
        self.assertEqual((1, []), self.measure(experiment))
        found = self.store.get(experiment, part)
        self.assertEqual("y", found.result)
        self.assertEqual({"X": "y"}, found.variables)
        self.assertEqual(list(part.command), found.command)
        self.assertGreater(len(found.machine), 5)
        self.assertRegex(found.date, r"^20..-..-..T..:..:..\+00:00$")
        self.assertGreater(found.seconds, 0)
        self.assertGreater(len(found.commit), 5)

    def test_rows_have_no_origin_of_their_own(self):
        part = made_up.part(
            "one", "json.dump({'run': {'host': 'h'}, 'rows': [3]}, file)")
        experiment = made_up.experiment(part)
        self.assertEqual((1, []), self.measure(experiment))
        self.assertEqual([3], self.store.get(experiment, part).result)

    def test_what_is_there_is_not_measured_again(self):
        parts = [made_up.part("one"), made_up.part("two")]
        self.assertEqual((1, []), self.measure(made_up.experiment(parts[0])))
        self.assertEqual((1, []), self.measure(made_up.experiment(*parts)))
        self.assertEqual((0, []), self.measure(made_up.experiment(*parts)))

    def test_another_command_is_another_measurement(self):
        self.measure(made_up.experiment(made_up.part("one")))
        for changed in (made_up.part("one", "json.dump(3, file)"),
                        made_up.part("one", X="y")):
            self.assertEqual((1, []),
                             self.measure(made_up.experiment(changed)))

    def test_a_failure_is_named_and_leaves_the_others_alone(self):
        failing = made_up.part("bad", "sys.exit('it broke')")
        silent = made_up.part("silent", "pass")
        good = made_up.part("good")
        experiment = made_up.experiment(failing, silent, good)
        count, failed = self.measure(experiment)
        self.assertEqual(3, count)
        self.assertEqual([failing, silent], [part for _, part, _ in failed])
        self.assertIn("it broke", failed[0][2])
        self.assertIn("no result", failed[1][2])
        self.assertIsNone(self.store.get(experiment, failing))
        self.assertEqual([1, 2], self.store.get(experiment, good).result)
        self.assertEqual(2, self.measure(experiment)[0])  # it tries again

    def test_what_others_disturbed_is_measured_again(self):
        for result in ([{"cpu_others_fraction": 0.01},
                        {"cpu_others_fraction": 0.06}],
                       {"row": {"cpu_others_fraction": 0.06}, "replay": {}}):
            part = made_up.part("one", f"json.dump({result}, file)")
            experiment = made_up.experiment(part)
            _, [(_, _, why)] = self.measure(experiment)
            self.assertIn("other programs took 6% of the CPUs", why)
            self.assertIsNone(self.store.get(experiment, part))

    def test_what_says_its_failures_counts_though_it_failed(self):
        part = dataclasses.replace(
            made_up.part("one", "json.dump(1, file); file.close(); "
                         "sys.exit(1)"), says_failures=True)
        experiment = made_up.experiment(part)
        self.assertEqual((1, []), self.measure(experiment))
        self.assertEqual(1, self.store.get(experiment, part).result)

    def test_what_takes_far_too_long_is_ended(self):
        part = dataclasses.replace(made_up.part("one", "time.sleep(600)"),
                                   seconds=0.1)
        experiment = made_up.experiment(part)
        with unittest.mock.patch.object(measure, "_BUILD_S", 0.5):
            [(_, failed, why)] = self.measure(experiment)[1]
        self.assertEqual(part, failed)
        self.assertIn("far longer", why)

    def test_a_file_that_is_no_result_is_measured_again(self):
        part = made_up.part("one")
        experiment = made_up.experiment(part)
        self.measure(experiment)
        path = os.path.join(self.folder, self.store.path(experiment))
        for text in (b"", b"{}", lzma.compress(b"[]"),
                     lzma.compress(b"half {"), lzma.compress(b'{"findings": '
                                                             b'{"one": {}}}')):
            with open(path, "wb") as file:
                file.write(text)
            self.assertEqual((1, []), self.measure(experiment))

    def test_programs_of_the_package_run_as_they_are(self):
        part = dataclasses.replace(made_up.part("sums"), command=(
            "python", "-m", "bench.experiments.arithmetic", "--elements",
            "1000", "--seeds", "1"))
        experiment = made_up.experiment(part)
        self.assertEqual((1, []), self.measure(experiment))
        first, *_ = self.store.get(experiment, part).result
        self.assertEqual("ring", first["algorithm"])


if __name__ == "__main__":
    junit_main.main()
