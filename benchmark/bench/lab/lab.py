# SPDX-License-Identifier: Apache-2.0
"""A network of hosts, with its environment's traffic."""
import contextlib
import os
from collections.abc import Mapping

from . import counters
from .network import INTERFACE, Host, Switched
from .settings import Settings
from .traffic import Traffic

EXPERIMENT = "GLOO_UBT_EXPERIMENT"


class Lab:
    """A context manager. REQUIRES isolation.run, which ends all its
    processes."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def __enter__(self) -> "Lab":
        with contextlib.ExitStack() as stack:
            stack.enter_context(counters.awake())
            self.network = stack.enter_context(
                Switched(self.settings.hosts, self.settings.links,
                         self.settings.environment.loss, self.settings.deaf,
                         stalls=bool(self.settings.environment.stalls)))
            self.traffic = stack.enter_context(
                Traffic(self.settings, self.hosts, self.network.switch))
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def hosts(self) -> list[Host]:
        return self.network.hosts

    def variables(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Environment variables for the ranks, in addition to
        `environment`."""
        own = {"GLOO_SOCKET_IFNAME": INTERFACE}
        # By default each rank assumes that it has this machine's CPUs alone.
        experiment = environment.get(EXPERIMENT, "")
        if (len(self.hosts) > (os.cpu_count() or 1)
                and "yield:" not in experiment):
            own[EXPERIMENT] = ",".join(filter(None, (experiment, "yield:off")))
        return own
