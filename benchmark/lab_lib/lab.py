# SPDX-License-Identifier: Apache-2.0
"""A network of hosts, with what its environment sends in it."""
import contextlib
import dataclasses
import os
import signal
import sys

from front_end.errors import EXIT_FAILED, UserError

from . import schedule
from .environments import Environment
from .generator import Generator
from .network import Host, Links, Switched


@dataclasses.dataclass(frozen=True)
class Settings:
    environment: Environment
    hosts: int = 8
    seed: int = 1
    links: Links = Links()


class Lab:
    """A context manager. REQUIRES isolation.run, which ends what it starts."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.hosts: list[Host] = []

    def __enter__(self) -> "Lab":
        with contextlib.ExitStack() as stack:
            network = stack.enter_context(
                Switched(self._settings.hosts, self._settings.links))
            self.hosts = network.hosts
            self._start_traffic(stack)
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _start_traffic(self, stack: contextlib.ExitStack) -> None:
        settings = self._settings
        if settings.environment.bursts is None:
            return
        process = os.fork()
        if process:
            stack.callback(_end, process)
        else:
            try:
                # Little to do, and that in time, whatever else runs.
                os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
                Generator(self.hosts, settings.links.mtu).run(
                    schedule.bursts(settings.environment, settings.seed,
                                    settings.hosts, settings.links.rate_mbit))
            except BaseException:  # or it would go on as a second parent
                sys.excepthook(*sys.exc_info())
            finally:
                os._exit(EXIT_FAILED)


def _end(process: int) -> None:
    """Ends it; raises UserError if it had ended before."""
    ended = os.waitpid(process, os.WNOHANG)[0] != 0
    if not ended:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    else:
        raise UserError("the lab's competing traffic ended too early (see "
                        "above); what was measured says nothing")
