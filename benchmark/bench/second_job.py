# SPDX-License-Identifier: Apache-2.0
"""A second job on the hosts of a lab."""
from front_end.errors import EXIT_FAILED, UserError

from .job import Job

SECONDS = 1e6  # for its worker: longer than any comparison
_WAIT_S = 0.1


class SecondJob:
    """A job that runs one algorithm all the time, next to the one that is
    measured. Its rank 0 is benchmark/comparison/worker."""

    def __init__(self, job: Job, ranks: int, bytes_each: int) -> None:
        """`job` has been started. `bytes_each`: of an allreduce."""
        self._job = job
        self._bytes_on_link = 2 * (ranks - 1) / ranks * bytes_each
        self._iterations = 0

    def warm_up(self) -> None:
        """Returns once its warm-up is over. Raises UserError if it failed."""
        while not self._iterations:
            self._take(_WAIT_S)

    def bytes_on_link(self) -> float:
        """The bytes that its finished allreduces needed on each link, without
        headers and repairs. Raises UserError if the job has failed."""
        self._take(0)
        return self._iterations * self._bytes_on_link

    def _take(self, wait_s: float) -> None:
        try:
            for event in self._job.new_lines(wait_s):
                if event["event"] == "progress":
                    self._iterations = event["iterations"]
        except UserError as error:
            raise UserError(f"the second job (--lab-second): {error}",
                            error.exit_code) from error
        if self._job.has_ended():
            raise UserError("the second job (--lab-second) has ended",
                            EXIT_FAILED)
