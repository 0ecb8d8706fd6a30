# SPDX-License-Identifier: Apache-2.0
"""The command lines of benchmark/lab, and of compare and train in a lab."""
import contextlib
import io
import os
import unittest
import unittest.mock

import compare_lib.arguments
import lab_lib.arguments
import train_lib.arguments
from front_end import bazel
from front_end.errors import EXIT_USAGE, UserError
from tests import junit_main

COMMAND = ("--", "true")


def parsed(parse, *argv, user=0):
    with unittest.mock.patch.object(os, "geteuid", return_value=user):
        return parse(list(argv))


def lab(*argv, **more):
    return parsed(lab_lib.arguments.parse, *argv, *COMMAND, **more)


def compare(*argv, **more):
    return parsed(compare_lib.arguments.parse, *argv, **more)


def train(*argv, **more):
    return parsed(train_lib.arguments.parse, "--model", "bible", *argv, **more)


class Test(unittest.TestCase):
    def error_of(self, command, *argv, **more):
        text = io.StringIO()
        with self.assertRaises(SystemExit) as raised:
            with contextlib.redirect_stderr(text):
                command(*argv, **more)
        self.assertEqual(EXIT_USAGE, raised.exception.code)
        return text.getvalue().splitlines()[-1]

    def check(self, *cases):
        for command, argv, words in cases:
            with self.subTest(argv=argv):
                text = self.error_of(command, *argv)
                for word in words:
                    self.assertIn(word, text)


class OfTheLab(Test):
    def test_defaults(self):
        arguments = lab()
        settings = arguments.in_lab
        self.assertEqual(["true"], arguments.command)
        self.assertEqual("clean", settings.environment.name)
        self.assertEqual(8, settings.hosts)
        self.assertEqual(1, settings.seed)
        self.assertEqual(500, settings.links.rate_mbit)
        self.assertEqual(1500, settings.links.mtu)
        self.assertEqual(0, settings.flows)
        self.assertEqual((), settings.deaf)

    def test_all_of_them(self):
        settings = lab(
            "--hosts", "5", "--environment", "mixed", "--rate", "2.5",
            "--seed", "0", "--queue", "9000", "--mtu", "1400", "--segments",
            "4", "--flows", "3", "--deaf", "4,0-1").in_lab
        self.assertEqual((5, "mixed", 0, 3, (0, 1, 4)), (
            settings.hosts, settings.environment.name, settings.seed,
            settings.flows, settings.deaf))
        links = settings.links
        self.assertEqual((2.5, 9000, 1400, 4), (
            links.rate_mbit, links.queue_bytes, links.mtu, links.segments))

    def test_an_environment_brings_its_flows(self):
        self.assertEqual(1, lab("--environment", "mixed").in_lab.flows)

    def test_what_follows_the_dashes_is_the_commands(self):
        arguments = parsed(lab_lib.arguments.parse, "--hosts", "2", "--",
                           "sh", "-c", "x", "--", "--hosts", "3")
        self.assertEqual(2, arguments.in_lab.hosts)
        self.assertEqual(["sh", "-c", "x", "--", "--hosts", "3"],
                         arguments.command)

    def test_mistakes_name_culprit_and_remedy(self):
        self.check(
            (lab, ["--environment", "p4"], ("'p4'", "p3", "straggler")),
            (lab, ["--environment", "straggler"],
             ("straggler", "benchmark/compare")),
            (lab, ["--hosts", "0"], ("'0'", "above 0")),
            (lab, ["--hosts", "65"], ("--hosts 65", "1 to 64")),
            (lab, ["--hosts", "2", "--environment", "p3"],
             ("--hosts 2", "p3", "3 to 64")),
            (lab, ["--hosts", "2", "--flows", "2"],
             ("--hosts 2", "3 to 64")),
            (lab, ["--rate", "0"], ("'0'", "above 0")),
            (lab, ["--rate", "0.5"], ("--rate 0.5", "from 1 to")),
            (lab, ["--rate", "1e9"], ("--rate 1e+09", "from 1 to")),
            (lab, ["--rate", "nan"], ("'nan'", "above 0")),
            (lab, ["--seed", "-1"], ("'-1'", "from 0")),
            (lab, ["--seed", "x"], ("'x'", "from 0")),
            (lab, ["--mtu", "500"], ("'500'", "1280 to 9000")),
            (lab, ["--segments", "0"], ("'0'", "1 to 64")),
            (lab, ["--queue", "20000"],
             ("--queue 20000", "66616", "--segments")),
            (lab, ["--queue", "6000", "--segments", "4"],
             ("--queue 6000", "6056")),
            (lab, ["--deaf", "3-1"], ("'3-1'", "4-7")),
            (lab, ["--deaf", "a"], ("'a'", "4-7")),
            (lab, ["--deaf", "8"], ("no host 8", "0 to 7")))

    def test_a_command_there_is(self):
        parse = lab_lib.arguments.parse
        for argv, words in (([], ("COMMAND is missing", "--")),
                            (["--"], ("COMMAND is missing",)),
                            (["true"], ("'true'", "follow --")),
                            (["--host", "2"], ("'--host'", "follow --")),
                            (["--", "no-such-thing"], ("'no-such-thing'",))):
            with self.subTest(argv=argv):
                text = self.error_of(lambda *a: parsed(parse, *a), *argv)
                for word in words:
                    self.assertIn(word, text)

    def test_without_root(self):
        for command, argv in ((lab, []), (compare, ["--lab", "p3"]),
                              (train, ["--lab", "p3"])):
            text = self.error_of(command, *argv, user=1000)
            self.assertIn("needs root", text)
            self.assertIn("sudo", text)
        compare(user=1000)
        train(user=1000)


class InOne(Test):
    def test_compare_has_other_defaults(self):
        arguments = compare("--lab", "p3")
        self.assertEqual(8, arguments.ranks)
        self.assertEqual((1000000,), arguments.elements)
        self.assertEqual(20, arguments.seconds)
        self.assertEqual("eth0", arguments.interface)
        self.assertEqual("p3", arguments.in_lab.environment.name)
        self.assertIsNone(compare().in_lab)

    def test_train_has_other_defaults(self):
        self.assertEqual(8, train("--lab", "p3").ranks)
        self.assertEqual(4, train().ranks)

    def test_what_is_given_counts(self):
        arguments = compare(
            "--lab", "straggler", "--lab-rate", "100", "--lab-seed", "7",
            "--ranks", "4", "--elements", "5", "--seconds", "1")
        self.assertEqual((4, 4, (5,), 1), (
            arguments.ranks, arguments.in_lab.hosts, arguments.elements,
            arguments.seconds))
        self.assertEqual((100, 7), (arguments.in_lab.links.rate_mbit,
                                    arguments.in_lab.seed))

    def test_mistakes_name_culprit_and_remedy(self):
        one_of_many = ["--rank", "0", "--size", "2", "--redis-url", "unix:///u"]
        self.check(
            (compare, ["--lab", "p"], ("'p'", "p3")),
            (compare, ["--lab-rate", "5"], ("--lab-rate", "--lab clean")),
            (compare, ["--lab-seed", "5"], ("--lab-seed", "--lab clean")),
            (train, ["--lab-queue", "5"], ("--lab-queue", "--lab clean")),
            (compare, ["--lab", "p3", "--ranks", "2"],
             ("--ranks 2", "3 to 64")),
            (compare, ["--lab", "p3", *one_of_many],
             ("--lab", "leave out --rank")),
            (compare, ["--lab", "p3", "--interface", "lo"],
             ("--lab", "leave out --interface")),
            (compare, ["--lab", "p3", "--lab-queue", "1000"],
             ("--lab-queue 1000", "--lab-segments")),
            (train, ["--lab", "straggler", "--ranks", "1"],
             ("--ranks 1", "2 to 64")))


class Building(unittest.TestCase):
    def test_is_done_outside(self):
        with unittest.mock.patch.dict(os.environ, {bazel.LAB_HOST: "3"}), \
                unittest.mock.patch.object(bazel.subprocess, "run") as run:
            with self.assertRaisesRegex(UserError, "bazel build //no:thing"):
                bazel.build("//no:thing")
            with unittest.mock.patch.object(os.path, "exists"):
                self.assertTrue(bazel.build("//a:b").endswith("/a/b"))
            run.assert_not_called()


if __name__ == "__main__":
    junit_main.main()
