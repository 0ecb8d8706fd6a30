# SPDX-License-Identifier: Apache-2.0
"""The competing traffic of an environment, and its byte counts."""
import mmap
import os
import signal
import sys
from collections.abc import Callable, Sequence

from front_end.errors import EXIT_FAILED, UserError

from . import schedule
from .bulk import BulkFlow
from .bursts import BurstSender
from .network import Host
from .settings import Settings


class Traffic:
    """A context manager: the traffic runs inside it."""

    def __init__(self, settings: Settings, hosts: Sequence[Host]) -> None:
        self._settings = settings
        self._hosts = hosts
        self._processes: list[int] = []
        self.flows = schedule.flows(settings.environment, settings.seed,
                                    len(hosts), settings.flows)
        # Each has one writer, and outlives it.
        self._burst_bytes = _shared(len(hosts))
        self._flow_bytes = _shared(max(1, len(self.flows)))

    def __enter__(self) -> "Traffic":
        try:
            if self._settings.environment.bursts:
                self._start(self._send_bursts)
            for index, flow in enumerate(self.flows):
                self._start(lambda f=flow, i=index: BulkFlow(
                    self._hosts[f.source], self._hosts[f.victim],
                    self._flow_bytes, i).run())
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def check(self) -> None:
        """Raises UserError if a part of the traffic has ended."""
        for process in self._processes:
            if os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG
                         | os.WNOWAIT) is not None:
                raise UserError(
                    "the lab's competing traffic has ended (see above), so "
                    "what was measured says nothing. Run it again")

    def burst_bytes(self) -> list[int]:
        """Bytes that bursts put onto each host's link, including headers."""
        return list(self._burst_bytes)

    def flow_bytes(self) -> list[int]:
        """Received bytes of each of `flows`, without headers."""
        return list(self._flow_bytes[:len(self.flows)])

    def _send_bursts(self) -> None:
        # It does little, but must be on time under any load.
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        settings = self._settings
        BurstSender(self._hosts, settings.links.mtu, self._burst_bytes).run(
            schedule.bursts(settings.environment, settings.seed,
                            len(self._hosts), settings.links.rate_mbit))

    def _start(self, run: Callable[[], None]) -> None:
        process = os.fork()
        if process:
            self._processes.append(process)
            return
        try:
            run()
        except BaseException:  # or it would go on as a second parent
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(EXIT_FAILED)

    def _end(self) -> None:
        for process in self._processes:
            os.kill(process, signal.SIGKILL)
        for process in self._processes:
            os.waitpid(process, 0)
        self._processes = []


def _shared(count: int) -> memoryview:
    """`count` counters that forked processes share."""
    return memoryview(mmap.mmap(-1, 8 * count)).cast("Q")
