# SPDX-License-Identifier: Apache-2.0
"""The preloaded library under a C++ program that knows only Gloo."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from tests import junit_main

HERE = Path(os.path.abspath(__file__)).parent  # keeps links: see runfiles
LIBRARY = HERE.parent.parent / "gloo_ext" / "libgloo_ubt.so"
SECONDS_MAX = 60
IN_HANDLER = 7


class Ranks:
    """A context manager that ends the program's ranks in every case."""

    def __init__(self, way, size, environment=None, processes=None):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name)
        (self.folder / "store").mkdir()
        environment = {**os.environ, "LD_PRELOAD": str(LIBRARY),
                       "GLOO_ALGO": "optireduce", "GLOO_SOCKET_IFNAME": "lo",
                       **(environment or {})}
        self.processes = [subprocess.Popen(
            [HERE / "drop_in_rank", way, str(rank), str(size), self.folder],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True) for rank in range(processes or size)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.communicate()
        self._folder.cleanup()

    def ended(self, rank):
        """The rank's exit status and output."""
        said, _ = self.processes[rank].communicate(timeout=SECONDS_MAX)
        return self.processes[rank].returncode, said


class DropIn(unittest.TestCase):
    def test_a_calls_timeout_holds_while_ranks_find_each_other(self):
        with Ranks("short", 3) as ranks:
            for rank in range(3):
                status, said = ranks.ended(rank)
                self.assertEqual(status, 0, said)
                self.assertIn("right", said)
                if rank == 0:
                    self.assertRegex(said, "threw: .*rank 1, rank 2 has not "
                                           "answered.*waited 10 ms")

    def test_a_finished_rank_lingers_at_most_as_long_as_the_setting_says(self):
        with Ranks("late", 3, {"GLOO_UBT_BOUND": "50ms",
                               "GLOO_UBT_LINGER": "1.5s"}) as ranks:
            for rank in (0, 2):
                status, said = ranks.ended(rank)
                self.assertEqual(status, 0, said)
                self.assertIn(f"rank {rank} ends after 1.5 s (GLOO_UBT_LINGER) "
                              "though rank 1 has not finished", said)
            (ranks.folder / "over").touch()
            status, said = ranks.ended(1)
            self.assertEqual(status, 0, said)

    def test_ranks_may_be_threads_of_one_process(self):
        for size in (2, 4):
            with Ranks("threads", size, processes=1) as ranks:
                status, said = ranks.ended(0)
                self.assertEqual(status, 0, said)
                self.assertEqual(said.count("right"), 20 * size, said)
                self.assertNotIn("wrong", said)
                self.assertNotIn("threw", said)

    def test_a_handler_may_end_the_process_during_a_call(self):
        with Ranks("handler", 2) as ranks:
            self.assertEqual(ranks.ended(0)[0], IN_HANDLER)
            (ranks.folder / "over").touch()
            status, said = ranks.ended(1)
            self.assertEqual(status, 0, said)


if __name__ == "__main__":
    junit_main.main()
