# SPDX-License-Identifier: Apache-2.0
"""The command lines of all commands."""
import contextlib
import io
import os
import tempfile
import unittest
from unittest import mock

from bench import compare, job, simulate, train
from bench.experiments import __main__ as experiments
from bench.lab import __main__ as lab
from front_end import bazel
from front_end.errors import EXIT_USAGE, UserError
from front_end.local_ranks import LAB_HOST
from tests import junit_main
from tests.support import usage

ONE_OF_MANY = ("--rank", "0", "--size", "2", "--redis-url", "unix:///u")


def parse_lab(argv):
    return lab.parse_arguments([*argv, "--", "true"])


def parse_train(argv):
    return train.parse(["--model", "fashion", *argv])


class Test(unittest.TestCase):
    def setUp(self):
        self.become(0)

        patch = mock.patch.object(compare.interface, "for_other_hosts",
                                  return_value="eth7")
        patch.start()
        self.addCleanup(patch.stop)

    def become(self, user):
        patch = mock.patch.object(os, "geteuid", return_value=user)
        patch.start()
        self.addCleanup(patch.stop)

    def check_mistakes(self, parse, *cases):
        """Cases: arguments, and words of the error."""
        for argv, *words in cases:
            with self.subTest(argv=argv):
                text = usage.error_of(parse, argv.split()
                                      if isinstance(argv, str) else argv)
                for word in words:
                    self.assertIn(word, text.splitlines()[-1])


class Compare(Test):
    def test_defaults(self):
        parsed = compare.parse([])
        self.assertTrue(parsed.local)
        self.assertEqual((4, (65536, 1048576, 6553600), 5, "lo"), (
            parsed.ranks, parsed.elements, parsed.seconds, parsed.interface))
        self.assertIsNone(parsed.in_lab)

    def test_one_rank_of_many(self):
        parsed = compare.parse(
            ["--rank", "2", "--size", "3", "--redis-url", "redis://h"])
        self.assertFalse(parsed.local)
        self.assertEqual((3, "eth7"), (parsed.ranks, parsed.interface))
        for url in "unix:///u", "redis://localhost:1", "redis://[::1]:1":
            parsed = compare.parse(
                ["--rank", "2", "--size", "3", "--redis-url", url])
            self.assertIsNone(parsed.interface)

    def test_ranks_wait_for_hosts_that_build(self):
        for more, limit in ((), "600.0"), (("--join-timeout", "5"), "5.0"):
            options = compare._worker_options(
                compare.parse([*ONE_OF_MANY, *more]), ("ring",), "unix:///u")
            self.assertEqual(
                limit, options[options.index("--join-timeout") + 1])
        self.assertNotIn("--join-timeout", compare._worker_options(
            compare.parse([]), ("ring",), "unix:///u"))

    def test_a_launcher_gives_the_place(self):
        slurm = {"SLURM_PROCID": "2", "SLURM_STEP_NUM_TASKS": "3",
                 "SLURM_LOCALID": "0", "SLURM_STEP_TASKS_PER_NODE": "1(x3)"}
        for said in slurm, {"RANK": "2", "WORLD_SIZE": "3"}:
            with mock.patch.dict(os.environ, said):
                parsed = compare.parse(["--redis-url", "redis://h"])
                self.assertEqual((False, 2, 3), (
                    parsed.local, parsed.rank, parsed.ranks))
                self.assertTrue(compare.parse([]).local)
        for said, *words in (
                ({}, "no launcher", "--rank and --size"),
                ({"RANK": "one", "WORLD_SIZE": "2"}, "RANK=one"),
                ({"RANK": "2", "WORLD_SIZE": "2"}, "--rank 2", "0 to 1")):
            with mock.patch.dict(os.environ, said, clear=True):
                self.check_mistakes(compare.parse,
                                    ("--redis-url redis://h", *words))

    def test_a_lab_has_other_defaults(self):
        parsed = compare.parse(["--lab", "p3"])
        self.assertEqual((8, (1000000,), 20, "eth0", "p3"), (
            parsed.ranks, parsed.elements, parsed.seconds, parsed.interface,
            parsed.in_lab.environment.name))

    def test_sizes_from_begin_to_end(self):
        for argv, sizes in (
                ("-b 4K -e 64K -f 4", (1024, 4096, 16384)),
                ("-b 1M -e 5M", (1 << 18, 1 << 19, 1 << 20)),
                ("--begin 4kib --end 4KB", (1024,)),
                ("-b 8 -e 8 -f 1", (2,))):
            self.assertEqual(sizes, compare.parse(argv.split()).elements)

    def test_given_values_count_in_a_lab(self):
        parsed = compare.parse(
            "--lab straggler --lab-rate 100 --lab-seed 7 --ranks 4 "
            "--elements 5 --seconds 1".split())
        self.assertEqual((4, 4, (5,), 1), (
            parsed.ranks, parsed.in_lab.hosts, parsed.elements,
            parsed.seconds))
        self.assertEqual((100, 7), (parsed.in_lab.links.rate_mbit,
                                    parsed.in_lab.seed))

    def test_mistakes_name_culprit_and_remedy(self):
        one = " ".join(ONE_OF_MANY)
        self.check_mistakes(
            compare.parse,
            ("--lab-second ring", "--lab-second: there is no lab"),
            ("--lab p3 --lab-second ring,bcube", "name one"),
            ("--elements 65536,x", "'x'", "from 1"),
            ("--elements 0", "'0'", "from 1"),
            ("--elements 1e6", "'1e6'", "from 1"),
            ("-b 1K", "--begin and --end"),
            ("-b x -e 1K", "'x'", "4K"),
            ("-b 2K -e 1K", "--begin 2048", "no larger"),
            ("-b 2 -e 1K", "--begin 2", "multiple"),
            ("-b 4i -e 1K", "'4i'", "4K"),
            ("-b 1K -e 1M -f 1", "--factor 1", "take 2"),
            ("-b 1K -e 1K --elements 5", "leave out one"),
            ("--algorithms ring,ring", "only once"),
            ("--algorithms ring,", "empty name"),
            ("--seconds -1", "'-1'", "above 0"),
            ("--seconds inf", "'inf'", "above 0"),
            ("--ranks 0", "'0'", "above 0"),
            ("--ranks two", "'two'", "number"),
            ("--rank 0", "--size, --redis-url", "go together"),
            ("--interface eth77", "eth77", "lo"),
            ("--json /nowhere/x", "/nowhere", "elsewhere"),
            ("--json /", "'/'", "name a file"),
            ("--json /proc/x", "'/proc/x'", "no such file"),
            ("--plot x.txt", "'x.txt'", ".png"),
            ("--rank 3 --size 3 --redis-url unix:///u", "--rank 3",
             "from 0 to 2"),
            (f"{one} --ranks 3", "--ranks", "--size"),
            ("--join-timeout 5", "--join-timeout", "several hosts"),
            (f"{one} --join-timeout 0", "'0'", "above 0"),
            ("--rank 0 --size 3 --redis-url h:6379", "'h:6379'",
             "redis://host:port"),
            ("--element 5", "--element"),
            ("--lab p", "'p'", "p3"),
            ("--lab-rate 5", "--lab-rate", "--lab clean"),
            ("--lab-seed 5", "--lab-seed", "--lab clean"),
            ("--lab p3 --ranks 2", "--ranks 2", "3 to 64"),
            (f"--lab p3 {one}", "--lab", "leave out --rank"),
            ("--lab p3 --interface lo", "--lab", "leave out --interface"),
            ("--lab p3 --lab-queue 1000", "--lab-queue 1000",
             "--lab-segments"))

    def test_only_rank_0_needs_a_place_to_write(self):
        argv = "--size 2 --redis-url redis://h --json /nowhere/x".split()
        self.check_mistakes(compare.parse,
                            (["--rank", "0", *argv], "/nowhere"))
        compare.parse(["--rank", "1", *argv])

    def test_a_result_that_is_there_stays_until_the_next_one(self):
        with tempfile.TemporaryDirectory() as folder:
            old, new = (os.path.join(folder, name) for name in ("old", "new"))
            with open(old, "w", encoding="utf-8") as file:
                file.write("rows")
            for path in old, new:
                compare.parse(["--json", path])
            with open(old, encoding="utf-8") as file:
                self.assertEqual("rows", file.read())
            self.assertEqual(["old"], os.listdir(folder))


class Lab(Test):
    def test_defaults(self):
        arguments = parse_lab([])
        settings = arguments.in_lab
        self.assertEqual(["true"], arguments.command)
        self.assertEqual(("clean", 8, 1, 0, ()), (
            settings.environment.name, settings.hosts, settings.seed,
            settings.flows, settings.deaf))
        self.assertEqual((500, 1500),
                         (settings.links.rate_mbit, settings.links.mtu))

    def test_all_options(self):
        settings = parse_lab(
            "--hosts 5 --environment mixed --rate 2.5 --seed 0 --queue 9000 "
            "--mtu 1400 --segments 4 --flows 3 --deaf 4,0-1".split()).in_lab
        self.assertEqual((5, "mixed", 0, 3, (0, 1, 4)), (
            settings.hosts, settings.environment.name, settings.seed,
            settings.flows, settings.deaf))
        links = settings.links
        self.assertEqual((2.5, 9000, 1400, 4), (
            links.rate_mbit, links.queue_bytes, links.mtu, links.segments))

    def test_an_environment_brings_its_flows(self):
        self.assertEqual(
            1, parse_lab(["--environment", "mixed"]).in_lab.flows)

    def test_a_share_to_lose(self):
        environment = parse_lab(
            ["--environment", "lossy:0.25"]).in_lab.environment
        self.assertEqual((0.25, "25 % of all packets are lost"),
                         (environment.loss, environment.what))

    def test_words_after_the_dashes_are_the_commands(self):
        arguments = lab.parse_arguments(
            "--hosts 2 -- sh -c x -- --hosts 3".split())
        self.assertEqual(2, arguments.in_lab.hosts)
        self.assertEqual("sh -c x -- --hosts 3".split(), arguments.command)

    def test_mistakes_name_culprit_and_remedy(self):
        self.check_mistakes(
            parse_lab,
            ("--environment p4", "'p4'", "p3", "straggler"),
            ("--environment straggler", "straggler", "benchmark/compare"),
            ("--environment p3:0.1", "'p3:0.1'", "lossy:0.05"),
            ("--environment lossy:1", "'lossy:1'", "below 1"),
            ("--environment lossy:x", "'lossy:x'", "lossy:0.05"),
            ("--hosts 0", "'0'", "above 0"),
            ("--hosts 65", "--hosts 65", "1 to 64"),
            ("--hosts 2 --environment p3", "--hosts 2", "p3", "3 to 64"),
            ("--hosts 2 --flows 2", "--hosts 2", "3 to 64"),
            ("--rate 0", "'0'", "above 0"),
            ("--rate 0.5", "--rate 0.5", "from 1 to"),
            ("--rate 1e9", "--rate 1e+09", "from 1 to"),
            ("--rate nan", "'nan'", "above 0"),
            ("--seed -1", "'-1'", "from 0"),
            ("--seed x", "'x'", "from 0"),
            ("--mtu 500", "'500'", "1280 to 9000"),
            ("--segments 0", "'0'", "1 to 64"),
            ("--queue 20000", "--queue 20000", "66616", "--segments"),
            ("--queue 6000 --segments 4", "--queue 6000", "6056"),
            ("--deaf 3-1", "'3-1'", "4-7"),
            ("--deaf a", "'a'", "4-7"),
            ("--deaf 8", "no host 8", "0 to 7"))

    def test_the_command_has_to_exist(self):
        self.check_mistakes(
            lab.parse_arguments,
            ([], "COMMAND is missing", "--"), (["--"], "COMMAND is missing"),
            ("true", "'true'", "follow --"),
            ("--host 2", "'--host'", "follow --"),
            ("-- no-such-thing", "'no-such-thing'"))

    def test_without_root(self):
        self.become(1000)
        for parse, argv in ((parse_lab, []), (compare.parse, ["--lab", "p3"]),
                            (parse_train, ["--lab", "p3"])):
            self.check_mistakes(parse, (argv, "needs root", "sudo"))
        compare.parse([])
        parse_train([])

    def test_building_is_done_outside(self):
        with mock.patch.dict(os.environ, {LAB_HOST: "3"}), \
                mock.patch.object(bazel.subprocess, "Popen") as start:
            with self.assertRaisesRegex(UserError, "bazel build //no:thing"):
                bazel.build("//no:thing")
            with mock.patch.object(os.path, "exists"):
                self.assertTrue(bazel.build("//a:b").endswith("/a/b"))
            start.assert_not_called()


class Train(Test):
    def test_defaults(self):
        parsed = train.parse(["--model", "bible"])
        self.assertEqual((["ring", "optireduce"], 4, 1, (1,), job.DEBIANS), (
            parsed.algorithms, parsed.ranks, parsed.epochs, parsed.seeds,
            parsed.python))
        self.assertEqual(8, parse_train(["--lab", "p3"]).ranks)

    def test_lists(self):
        parsed = parse_train(["--seeds", "3,1", "--algorithms", "gloo,bcube"])
        self.assertEqual((3, 1), parsed.seeds)
        self.assertEqual(["gloo", "bcube"], parsed.algorithms)

    def test_installs_nothing_that_the_user_brings(self):
        for argv, lists in (
                ([], ["training_packages.txt", "torch_packages.txt"]),
                (["--python", "/venv/bin/python"], ["training_packages.txt"]),
                (["--data", "/"], ["torch_packages.txt"])):
            self.assertEqual(lists, train.package_lists(parse_train(argv)))

    def test_mistakes_name_culprit_and_remedy(self):
        self.check_mistakes(train.parse, ([], "--model"),
                            ("--model fashon", "'fashon'", "fashion?"),
                            ("--model bible --data /", "no file '/'", "bible"))
        self.check_mistakes(
            parse_train,
            ("--algorithms ring,ring", "algorithm", "only once"),
            (["--algorithms", ""], "empty name", "optireduce"),
            ("--seeds 1,1", "seed", "only once"),
            ("--seeds 1,-2", "'-2'", "a seed from 0"),
            ("--seeds 99999999999", "'99999999999'", "a seed from 0"),
            ("--epochs 0", "'0'", "above 0"),
            ("--steps x", "'x'", "number"),
            ("--ranks -1", "'-1'", "above 0"),
            ("--plot x.txt", "'x.txt'", ".png"),
            ("--json /nowhere/x", "/nowhere", "elsewhere"),
            ("--data /nowhere", "no folder '/nowhere'", "fashion"),
            ("--epoch 5", "--epoch"),
            ("--lab-queue 5", "--lab-queue", "--lab clean"),
            ("--lab straggler --ranks 1", "--ranks 1", "2 to 64"))

    def test_a_python_without_pytorch_or_gloo(self):
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            code = train.main(["--model", "fashion", "--python", "/bin/false",
                               "--only-check"])
        self.assertEqual(EXIT_USAGE, code)
        self.assertIn("'/bin/false' has no PyTorch", err.getvalue())
        self.assertIn("pip install torch", err.getvalue())
        for path, words in (("/nowhere/python", "/nowhere/python.*No such"),
                            ("/bin/true", "'/bin/true' has no Gloo")):
            with self.assertRaisesRegex(UserError, words):
                job.torch_version(path)

    def test_a_library_that_cannot_be_preloaded(self):
        with self.assertRaisesRegex(UserError, "'/a b' cannot be preloaded"):
            train.library(["ring"], "/a b")
        self.assertIsNone(train.library(["gloo"], "/a b"))


class Simulate(Test):
    def test_mistakes_name_culprit_and_remedy(self):
        self.check_mistakes(
            simulate.parse,
            ("--also reorder", "is not a name and a number"),
            ("--also a=1,a=2", "'a' has two values"),
            ("--also ranks=4", "'ranks': another option says that"),
            ("--algorithms ring,ring", "only once"),
            ("--ranks 1", "'1'", "from 2 to 4096"),
            ("--bound 0", "'0'", "from 1 to"),
            ("--ranks 8,8", "--ranks", "only once"),
            ("--tail 0.5", "'0.5'", "at least 1"),
            ("--mtu 100", "--mtu", "'100'", "from 576"),
            ("--elements 5000000000", "'5000000000'", "from 1 to"),
            ("--latency 0.0001", "--latency", "a nanosecond"),
            ("--every 0.0000001", "--every", "a nanosecond"),
            ("--looks -1", "'-1'", "from 0 on"),
            ("--lab mixed", "'mixed'", "no TCP flows", "clean"),
            ("--lab varying", "'varying'", "clean"),
            ("--lab p3 --gbit 10", "--gbit", "leave out one"),
            ("--lab p3 --ranks 2", "--ranks 2", "takes 3"),
            ("--json /nowhere/x", "--json", "elsewhere"))


class Experiments(Test):
    def test_default_folders(self):
        self.assertTrue(experiments.parse([]).out.endswith("/docs/results"))
        self.assertTrue(
            experiments.parse(["--quick"]).out.endswith("/quick-results"))

    def test_a_list_looks_only_at_a_named_folder(self):
        self.assertFalse(experiments.parse(["--list"]).looks)
        self.assertTrue(experiments.parse(["--list", "--out", "x"]).looks)
        self.assertTrue(experiments.parse([]).looks)

    def test_mistakes_name_culprit_and_remedy(self):
        with tempfile.NamedTemporaryFile() as file:
            self.check_mistakes(
                experiments.parse,
                ("--only tail", "'tail'", "did you mean tails?"),
                ("--only tails,tails", "--only", "only once"),
                ("--again --list", "--again", "leave it out"),
                ("--again --report", "--again", "leave it out"),
                (["--out", file.name], "is no folder"))

    def test_only_the_lab_needs_root(self):
        self.become(1000)
        self.check_mistakes(experiments.parse, ([], "tails", "sudo"))
        for argv in (["--list"], ["--report"],
                     ["--only", "ablation,errors,scale,harmless"]):
            experiments.parse(argv)


if __name__ == "__main__":
    junit_main.main()
