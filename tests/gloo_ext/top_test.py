# SPDX-License-Identifier: Apache-2.0
"""python -m gloo_ubt top"""
import contextlib
import io
import os
import sys
import tempfile
import unittest
from unittest import mock

from gloo_ubt import __main__ as command
from gloo_ubt import top
from tests import junit_main
from tests.support import usage

TEXT = """\
# HELP gloo_ubt_ops_total Allreduce calls, by kind.
# TYPE gloo_ubt_ops_total counter
gloo_ubt_ops_total{rank="0",kind="exact"} 5
gloo_ubt_ops_total{rank="0",kind="bounded"} 100
gloo_ubt_expired_ops_total{rank="0"} 7
gloo_ubt_repaired_bytes_total{rank="0"} 2500000
gloo_ubt_pairs_expected_total{rank="0"} 1000000
gloo_ubt_pairs_missing_total{rank="0"} 310
gloo_ubt_lost_bytes_total{rank="0",peer="1"} 400000
gloo_ubt_lost_bytes_total{rank="0",peer="2"} 700000
gloo_ubt_late_seconds_total{rank="0",peer="1"} 12.340000
gloo_ubt_late_seconds_total{rank="0",peer="2"} 0.500000
gloo_ubt_op_seconds{rank="0",quantile="0.5"} 0.009600
gloo_ubt_op_seconds{rank="0",quantile="0.99"} 0.016900
"""


class Table(unittest.TestCase):
    def rows(self, now, rates=None, clock=0.0):
        heading, *lines = top.render(now, rates or {}, clock).splitlines()
        return [line.split() for line in lines]

    def test_a_rank_is_a_line(self):
        key = (0, "rank0.prom")
        self.assertEqual(
            [["0", "12.5", "100", "7", "0.031", "%", "9.6", "16.9", "2.5",
              "1.1", "2", "12.3", "1"]],
            self.rows({key: top.parse(TEXT)}, {key: 12.5}))

    def test_ranks_stand_in_order(self):
        sample = top.parse(TEXT)
        self.assertEqual(["0", "2", "2", "10"], [row[0] for row in self.rows({
            (10, "rank10.prom"): sample, (2, "rank2.prom"): sample,
            (0, "rank0.prom"): sample, (2, "rank2-77.prom"): sample})])

    def test_a_file_without_calls_is_no_error(self):
        for text in "", "gloo_ubt_ops_total{rank=", TEXT.replace(" ", "  "):
            self.assertEqual(
                [["3", "0", "0", "0", "0", "0", "0.0", "0.0", "0.0"]],
                self.rows({(3, "rank3.prom"): top.parse(text)}))

    def test_a_silent_rank_is_marked(self):
        now = {(0, "rank0.prom"): top.parse(TEXT, 100.0)}
        self.assertEqual("61", self.rows(now, clock=161.2)[0][-1])
        self.assertEqual("1", self.rows(now, clock=104)[0][-1])  # "of"

    def test_a_rank_that_has_ended_is_marked(self):
        now = {(0, "rank0.prom"): top.parse(
            TEXT + 'gloo_ubt_running{rank="0"} 0\n')}
        self.assertEqual("ended", self.rows(now)[0][-1])

    def test_large_values_have_no_exponent(self):
        text = TEXT.replace("_missing_total{rank=\"0\"} 310",
                            "_missing_total{rank=\"0\"} 1000000")
        text = text.replace("0.016900", "20.000000")
        row = self.rows({(0, "rank0.prom"): top.parse(text)})[0]
        self.assertEqual(["100", "%", "9.6", "20000"], row[3:7])


class Rates(unittest.TestCase):
    KEY = (0, "rank0.prom")

    def sample(self, calls, written):
        return {self.KEY: top.parse(
            f'gloo_ubt_ops_total{{rank="0",kind="bounded"}} {calls}', written)}

    def test_are_of_the_time_between_files(self):
        self.assertEqual({self.KEY: 25.0}, top.rates_of(
            self.sample(100, 12.0), self.sample(50, 10.0), {}))

    def test_hold_while_the_file_stays(self):
        same = self.sample(100, 12.0)
        self.assertEqual({self.KEY: 7.0},
                         top.rates_of(same, same, {self.KEY: 7.0}))
        self.assertEqual({}, top.rates_of(same, same, {}))

    def test_of_a_new_rank_and_of_one_that_started_again_are_unknown(self):
        for before in {}, self.sample(101, 10.0):
            self.assertEqual({}, top.rates_of(
                self.sample(100, 12.0), before, {self.KEY: 7.0}))


class Command(unittest.TestCase):
    def run_top(self, *argv):
        """Exit code, standard output, standard error."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = top.main(["--interval", "0.01", *argv])
        return code, out.getvalue(), err.getvalue()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_shows_what_ranks_wrote(self):
        for name in ("rank0.prom", "rank1.prom", "rank1.jsonl", "other.prom"):
            with open(os.path.join(self.folder, name), "w",
                      encoding="utf-8") as file:
                file.write(TEXT)
        code, out, err = self.run_top("--once", self.folder)
        self.assertEqual((0, ""), (code, err))
        self.assertEqual(["rank", "0", "1"], [
            line.split()[0] for line in out.splitlines()[2:]])

    def test_ends_when_all_ranks_have(self):
        with open(os.path.join(self.folder, "rank0.prom"), "w",
                  encoding="utf-8") as file:
            file.write(TEXT + 'gloo_ubt_running{rank="0"} 0\n')
        code, out, _ = self.run_top(self.folder)
        self.assertEqual(0, code)
        self.assertTrue(out.splitlines()[-1].endswith("ended"), out)

    def test_says_that_there_is_nothing_yet(self):
        code, out, _ = self.run_top("--once", self.folder)
        self.assertEqual(1, code)
        self.assertIn("No rank has written anything here yet", out)

    def test_ctrl_c_ends_it(self):
        with mock.patch.object(top.time, "sleep",
                               side_effect=KeyboardInterrupt):
            self.assertEqual(0, self.run_top(self.folder)[0])

    def test_a_folder_that_vanishes_is_named(self):
        with mock.patch.object(top.time, "sleep",
                               side_effect=lambda _: os.rmdir(self.folder)):
            code, _, err = self.run_top(self.folder)
        os.mkdir(self.folder)
        self.assertEqual((1, f"error: {self.folder}: No such file or "
                          "directory\n"), (code, err))

    def test_mistakes_name_culprit_and_remedy(self):
        for argv, *words in (
                (["/nowhere"], "'/nowhere'", "GLOO_UBT_REPORT"),
                ([self.folder, "--interval", "0"], "--interval 0", "above 0"),
                ([], "DIR")):
            said = usage.error_of(top.main, argv)
            for word in words:
                self.assertIn(word, said)

    def test_commands_have_names(self):
        for argv, code, word in ((["top", "--help"], 0, "columns"),
                                 (["--help"], 0, "top DIR"),
                                 (["--version"], 0, "gloo_ubt "),
                                 (["tpo"], 2, "no command 'tpo'"),
                                 ([], 2, "usage")):
            text = io.StringIO()
            with mock.patch.object(sys, "argv", ["gloo_ubt", *argv]), \
                    contextlib.redirect_stdout(text), \
                    contextlib.redirect_stderr(text):
                try:
                    found = command.main()
                except SystemExit as end:  # argparse's --help
                    found = end.code
            self.assertEqual(code, found)
            self.assertIn(word, text.getvalue())


if __name__ == "__main__":
    junit_main.main()
