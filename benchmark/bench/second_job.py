# SPDX-License-Identifier: Apache-2.0
"""A second job on the hosts of a lab."""
from typing import NamedTuple

from front_end.errors import EXIT_FAILED, UserError

from .job import Job

_WAIT_S = 0.1


class Sent(NamedTuple):
    """By finished allreduces on each link, without headers and repairs."""

    sent_bytes: float
    seconds: float


class SecondJob:
    """A job that runs one algorithm all the time, next to the one that is
    measured. Its rank 0 is benchmark/comparison/worker --forever."""

    def __init__(self, job: Job, ranks: int, bytes_each: int) -> None:
        """`job` has been started. `bytes_each`: of an allreduce."""
        self._job = job
        self._bytes_on_link = 2 * (ranks - 1) / ranks * bytes_each

    def warm_up(self) -> None:
        """Returns once its warm-up is over. Raises UserError if it failed."""
        while not self._reports(_WAIT_S):
            pass

    def since_last_call(self) -> Sent:
        """Its traffic between the first and the last of its reports since
        then. A count at the call itself would miss the iterations since the
        last report. Raises UserError if it has failed."""
        reports = self._reports(0)
        if not reports:
            return Sent(0, 0)
        first, last = reports[0], reports[-1]
        iterations = last["iterations"] - first["iterations"]
        return Sent(iterations * self._bytes_on_link,
                    last["elapsed_s"] - first["elapsed_s"])

    def _reports(self, wait_s: float) -> list[dict]:
        try:
            lines = self._job.new_lines(wait_s)
        except UserError as error:
            raise UserError(f"the second job (--lab-second): {error}",
                            error.exit_code) from error
        if self._job.has_ended():
            raise UserError("the second job (--lab-second) has ended",
                            EXIT_FAILED)
        return [line for line in lines if line["event"] == "progress"]
