# SPDX-License-Identifier: Apache-2.0
"""The preloaded library under one PyTorch: Debian's ("debian" as argument) or
PyPI's wheel ("wheel"). tests/run installs both. Without it: visibly
skipped."""

import functools
import itertools
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import unittest

from tests import junit_main
from tests.gloo_ext.ranks import PACKAGE, PATIENT, Job

# third_party/install_torch's folder; tests have no HOME.
_WHEEL = os.path.join(pwd.getpwuid(os.getuid()).pw_dir,
                      ".cache/gloo_ubt/torch-2.13.0/bin/python")
PYTHON = "/usr/bin/python3" if sys.argv[1:2] == ["debian"] else _WHEEL
RANKS = 4


@functools.lru_cache()
def torch_version():
    if not os.path.exists(PYTHON):
        return None
    asked = subprocess.run(
        [PYTHON, "-c", "import torch; print(torch.__version__)"],
        capture_output=True, text=True, timeout=120, check=False)
    return asked.stdout.strip() if asked.returncode == 0 else None


class TorchTest(unittest.TestCase):
    def setUp(self):
        if torch_version() is None:
            self.skipTest(f"no torch at '{PYTHON}': tests/run brings it")


def run(script, size=RANKS, algorithm="optireduce", environment=None,
        arguments=()):
    with Job(PYTHON, script, size, arguments) as job:
        job.start_all(algorithm, environment)
        return job.results()


class Exact(TorchTest):
    """Calls that are not bounded give the same bits as plain Gloo."""

    def test_every_algorithm_gives_the_result_of_plain_gloo(self):
        plain = run("collectives.py", algorithm=None)
        gloos = ("", "optireduce", "hierarchical_optireduce")
        for algorithm in ("", "ring", "bcube", "transpose", "halving_doubling",
                          "hierarchical_transpose", "optireduce",
                          "hierarchical_optireduce"):
            with self.subTest(algorithm=algorithm):
                results = run("collectives.py", algorithm=algorithm,
                              environment=PATIENT)
                for rank, (mine, plains) in enumerate(zip(results, plain)):
                    for name, digest in plains.items():
                        if name == "product" and algorithm not in gloos:
                            continue  # rounds in its own order
                        if name == "small" and algorithm not in gloos:
                            continue
                        self.assertEqual(mine[name], digest, (rank, name))


class Groups(TorchTest):
    def test_subgroups_threads_lives_and_exact_groups(self):
        with tempfile.TemporaryDirectory() as folder:
            for result in run("groups.py", environment=PATIENT,
                              arguments=[folder]):
                self.assertGreater(result["bounded"], 30)

    def test_forked_and_spawned_children(self):
        for start in ("fork", "spawn"):
            with self.subTest(start), tempfile.TemporaryDirectory() as folder:
                run("processes.py", 2, environment=PATIENT,
                    arguments=[folder, start])

    def test_detailed_debugging(self):
        with tempfile.TemporaryDirectory() as folder:
            run("groups.py", 2, arguments=[folder], environment={
                **PATIENT, "TORCH_DISTRIBUTED_DEBUG": "DETAIL"})


    def test_many_one_after_the_other_hold_little(self):
        for result in run("many_groups.py", 2, environment=PATIENT):
            # For 160 groups. Plain Gloo also has several at a time.
            self.assertLess(result["descriptors"], 80)
            self.assertLess(result["threads"], 40)


class Ends(TorchTest):
    """A job's last allreduce succeeds however its ranks end."""

    # More would take long: about 2 s a job if the interpreter ends, as with
    # plain Gloo.
    JOBS = {"os._exit": 10, "multiprocessing": 10, "destroy+os._exit": 10,
            "return": 1, "sys.exit": 1, "exception": 1, "destroy+return": 1}

    def ends(self, way, jobs, *more, environment=None):
        with Job(PYTHON, "ends.py", 1, (way, jobs, *more)) as job:
            said = job.start_all(environment=environment).results(120 + 20 * int(jobs))[0]
            self.assertEqual(said["failed"], 0, (said, job.output(0)))
            return job.output(0)

    def test_every_way_to_end(self):
        for way, jobs in self.JOBS.items():
            with self.subTest(way):
                self.ends(way, os.environ.get("ENDS_JOBS", str(jobs)))

    def test_a_rank_that_is_late_for_its_last_allreduces_gets_them(self):
        # The budget would not pay for one rank of three.
        said = self.ends("os._exit", "1", "25", "8",
                         environment={"GLOO_UBT_BOUND": "200ms"})
        for rank in (1, 2):
            self.assertIn(f"rank {rank} has finished and waits for rank 0, "
                          "which may still need its results", said)


class Majority(TorchTest):
    """Lateness alone leaves at most a minority of ranks out of a sum."""

    RUNS = os.environ.get("MAJORITY_RUNS", "1")

    def sums(self, program, *more):
        with Job(PYTHON, "majority.py", 1, (program, self.RUNS, *more)) as job:
            return job.start_all().results(120 + 60 * int(self.RUNS))[0]

    def programs(self):
        # Debian's torch 1.13 has no DTensor.
        modern = PYTHON.startswith(_WHEEL)
        return ("bursts", "threads", "fork") + (("dtensor",) if modern else ())

    def test_is_in_every_sum(self):
        for program in self.programs():
            with self.subTest(program):
                said = self.sums(program)
                self.assertEqual(said["less"], 0, said)
                self.assertGreater(said["whole"], 0, said)

    def test_is_all_of_an_exact_group(self):
        for program in self.programs():
            with self.subTest(program):
                said = self.sums(program, "--exact")
                self.assertEqual(said["whole"], said["sums"], said)


class Bounded(TorchTest):
    def test_sums_hold_exactly_the_reported_contributors(self):
        for hadamard, repair in itertools.product(("off", "on"),
                                                  ("broadcast", "both")):
            with self.subTest(hadamard=hadamard, repair=repair):
                results = run("contributors.py", environment={
                    "GLOO_UBT_FAULT": "loss:0.02,seed:1",
                    "GLOO_UBT_MTU": "1500", "GLOO_UBT_BOUND": "15ms",
                    "GLOO_UBT_REPAIR": repair, "GLOO_UBT_HADAMARD": hadamard})
                for result in results:
                    self.assertEqual(result["sums"], results[0]["sums"])
                    self.assertEqual(result["missing"], result["reported"])
                    self.assertEqual(result["drift_elements"], 0)
                if repair == "broadcast":
                    self.assertGreater(results[0]["reported"], 0)

    def test_replicas_stay_the_same_under_loss(self):
        results = run("drift.py", environment={
            "GLOO_UBT_FAULT": "loss:0.01,seed:1", "GLOO_UBT_MIN_BYTES": "1000",
            "GLOO_UBT_MTU": "1500"})
        self.assertEqual(len({result["digest"] for result in results}), 1)
        for result in results:
            self.assertEqual(result["stats"]["drift_elements"], 0)
            self.assertGreater(result["stats"]["bounded_ops"], 400)
        self.assertGreater(max(
            peer["repaired_bytes"] for result in results
            for peer in result["stats"]["peers"]), 0)


class Package(TorchTest):
    def test_installs_with_pip_and_works_without_the_library(self):
        if not PYTHON.startswith(_WHEEL):
            self.skipTest("Debian's Python is not for pip")
        with tempfile.TemporaryDirectory() as folder:
            tree = shutil.copytree(PACKAGE, f"{folder}/tree")
            subprocess.run(
                [PYTHON, "-m", "pip", "install", "--quiet", "--no-index",
                 "--no-build-isolation", "--target", f"{folder}/there", tree],
                timeout=120, check=True)
            said = subprocess.run(
                [PYTHON, "-c", "import gloo_ubt as g; print(g.loaded(), "
                 "g.stats(), g.last(), g.skipped())"],
                env={**os.environ, "PYTHONPATH": f"{folder}/there"},
                capture_output=True, text=True, timeout=120, check=True)
        self.assertEqual(said.stdout, "False {} None False\n")


class Fsdp(TorchTest):
    def test_its_reduce_scatter_is_bounded(self):
        if torch_version().startswith("1."):
            self.skipTest("this torch refuses reduce_scatter over gloo")
        environment = {**PATIENT, "GLOO_UBT_MIN_BYTES": "1000"}
        plain, bounded = (run("fsdp.py", 2, algorithm, environment)
                          for algorithm in (None, "optireduce"))
        for one, other in zip(plain, bounded):
            self.assertEqual(other["bounded"], 5)
            self.assertEqual(other["averages"], 1)
            for mine, yours in zip(one["losses"], other["losses"]):
                self.assertAlmostEqual(mine, yours, delta=1e-5)


class Features(TorchTest):
    BOUNDED = {"static_graph", "accumulation", "uneven_inputs",
               "zero_optimizer", "profiler", "scaler", "reduce_scatter"}

    def test_give_the_same_over_bounded_sums(self):
        environment = {**PATIENT, "GLOO_UBT_MIN_BYTES": "1000",
                       "TORCH_FR_BUFFER_SIZE": "2000"}
        plain, bounded = (run("features.py", 2, algorithm, environment)
                          for algorithm in (None, "optireduce"))
        has_ranges = not torch_version().startswith("1.")
        for one, other in zip(plain, bounded):
            self.assertEqual(one.keys(), other.keys())
            self.assertFalse(one.pop("bounded range"))
            self.assertEqual(has_ranges, other.pop("bounded range"))
            if has_ranges:
                self.assertGreater(one["flight_recorder"]["values"][0], 0)
            for name, result in other.items():
                with self.subTest(name):
                    self.assertEqual(name in self.BOUNDED,
                                     result["bounded"] > 0)
                    for mine, yours in zip(result["values"],
                                           one[name]["values"]):
                        self.assertAlmostEqual(mine, yours, delta=1e-4)


class Models(TorchTest):
    def test_only_their_sums_are_bounded(self):
        old = torch_version().startswith("1.")
        for algorithm, hook in (("optireduce", ["hook"]), ("optireduce", []),
                                (None, ["hook"])):
            with self.subTest(algorithm=algorithm, hook=hook):
                steps = 30 if algorithm else 0
                for result in run(
                        "models.py", 2, algorithm, PATIENT,
                        hook + ([] if old else ["fsdp"])):
                    expected = {
                        "default group": 0, "new group": 0, "ddp": steps,
                        "second ddp": steps, "warnings": 1,
                        "ddp with a group": 0, "default group again": 0}
                    if not old:  # it refuses reduce_scatter over gloo
                        expected["fsdp"] = steps
                    self.assertEqual(expected, result)


    def test_from_the_launchers_start_up_code(self):
        environment = {**PATIENT, "GLOO_UBT_BOUNDED": "ddp"}
        for startup in (True, False):
            steps = 30 if startup else 0
            with self.subTest(startup=startup):
                if startup:
                    environment["PYTHONPATH"] = ":".join(
                        (os.path.join(PACKAGE, "gloo_ubt", "startup"),
                         str(PACKAGE)))
                for result in run("models.py", 2, "optireduce", environment,
                                  ["startup", "hook"]):
                    self.assertEqual({
                        "default group": 0, "new group": 0, "ddp": steps,
                        "second ddp": steps, "warnings": int(startup),
                        "ddp with a group": 0, "default group again": 0},
                        result)
                environment.pop("PYTHONPATH", None)


class Cuda(TorchTest):
    def test_tensors_on_a_gpu_take_the_bounded_path(self):
        found = subprocess.run(
            [PYTHON, "-c", "import torch; print(torch.cuda.is_available())"],
            capture_output=True, text=True, timeout=120, check=True)
        if found.stdout.strip() != "True":
            self.skipTest("no GPU here, or a torch without CUDA")
        for result in run("gpu_tensors.py", 2, environment=PATIENT):
            self.assertEqual(result["bounded"], 3)


class Hook(TorchTest):
    LOSSY = {"GLOO_UBT_FAULT": "loss:0.05,seed:3", "GLOO_UBT_BOUND": "20ms",
             "GLOO_UBT_MTU": "1500", "GLOO_UBT_MIN_BYTES": "1000",
             "GLOO_UBT_EXPERIMENT": "warmup_ops:6"}

    def test_does_the_same_as_ddp_itself(self):
        for algorithm in (None, "optireduce"):
            environment = {**PATIENT, "GLOO_UBT_MIN_BYTES": "1000"}
            plain, hooked = (
                run("hook.py", 2, algorithm, environment, [kind, "10"])
                for kind in ("plain", "hook"))
            for rank in range(2):
                self.assertEqual(hooked[rank]["apart"], 0)
                for one, other in zip(plain[rank]["weights"],
                                      hooked[rank]["weights"]):
                    self.assertAlmostEqual(one, other, delta=1e-5)

    def test_error_feedback_brings_replicas_together(self):
        # Even if a busy machine makes nearly everything late at 20 ms.
        environment = {**self.LOSSY, "GLOO_UBT_REPAIR": "none",
                       "GLOO_UBT_HALT_LOSS": "0"}
        without, feedback, resync = (
            run("hook.py", 3, environment=environment, arguments=[kind, "40"])
            for kind in ("hook", "feedback", "resync"))
        for result in without + feedback + resync:
            self.assertGreater(result["stats"]["drift_elements"], 0)
        self.assertEqual(resync[0]["apart_after_exact_steps"], 0)
        self.assertGreater(without[0]["apart_after_exact_steps"], 1e-4)
        self.assertLess(feedback[0]["apart_after_exact_steps"], 1e-6)

    def test_without_repair_the_first_drift_is_told(self):
        with Job(PYTHON, "hook.py", 3, ["hook", "40"]) as job:
            job.start_all(environment={
                **self.LOSSY, "GLOO_UBT_REPAIR": "none",
                "GLOO_UBT_HALT_LOSS": "0"})
            job.results()
            for rank in range(3):
                self.assertEqual(
                    job.output(rank).count("replicas drift apart"), 1)

    def test_ranks_skip_together_and_whole_steps(self):
        results = run("hook.py", 3, arguments=["hook", "40"], environment={
            **self.LOSSY, "GLOO_UBT_SKIP_LOSS": "0.04"})
        for result in results:
            self.assertEqual(result["apart"], 0)
            self.assertGreater(result["skipped"], 0)
            self.assertEqual(result["skipped"], results[0]["skipped"])
            self.assertEqual(result["zero_steps"], result["skipped"])
            self.assertGreaterEqual(result["stats"]["skipped_ops"],
                                    result["skipped"])


if __name__ == "__main__":
    junit_main.main()
