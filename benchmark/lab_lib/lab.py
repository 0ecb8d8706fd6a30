# SPDX-License-Identifier: Apache-2.0
"""A network of hosts, with what its environment sends in it."""
import contextlib
import os
from collections.abc import Mapping

from . import cpu
from .network import INTERFACE, Host, Switched
from .settings import Settings
from .traffic import Traffic


class Lab:
    """A context manager. REQUIRES isolation.run, which ends what it starts."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def __enter__(self) -> "Lab":
        with contextlib.ExitStack() as stack:
            stack.enter_context(cpu.awake())
            self.network = stack.enter_context(
                Switched(self.settings.hosts, self.settings.links,
                         self.settings.environment.loss, self.settings.deaf))
            self.traffic = stack.enter_context(
                Traffic(self.settings, self.hosts))
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def hosts(self) -> list[Host]:
        return self.network.hosts

    def variables(self, environment: Mapping[str, str]) -> dict[str, str]:
        """What ranks need in their environment, besides what it holds."""
        own = {"GLOO_SOCKET_IFNAME": INTERFACE}
        # Each takes it that this machine's CPUs are all its own.
        if (len(self.hosts) > (os.cpu_count() or 1)
                and "GLOO_UBT_YIELD" not in environment):
            own["GLOO_UBT_YIELD"] = "off"
        return own
