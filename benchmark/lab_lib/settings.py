# SPDX-License-Identifier: Apache-2.0
"""The settings of a lab."""
import dataclasses

from . import schedule
from .environments import Environment


@dataclasses.dataclass(frozen=True)
class Links:
    rate_mbit: float = 500
    queue_bytes: int = 524288  # of a port, towards its host
    mtu: int = 1500
    segments: int = 0  # datagrams that stay together on a link; 0: all


@dataclasses.dataclass(frozen=True)
class Settings:
    environment: Environment
    hosts: int = 8
    seed: int = 1
    links: Links = Links()
    flows: int = 0
    deaf: tuple[int, ...] = ()  # hosts that receive no multicast

    def __str__(self) -> str:
        links = self.links
        return (f"in a lab: {self.environment.name} ({self.environment.what}), "
                f"seed {self.seed}, {self.hosts} hosts at {links.rate_mbit:g} "
                f"Mbit/s, MTU {links.mtu}, queues of {links.queue_bytes} bytes")

    def about(self) -> dict[str, object]:
        """The settings as --json writes them."""
        return {"lab_environment": self.environment.name,
                "lab_rate_mbit": self.links.rate_mbit, "lab_seed": self.seed}

    def lateness(self) -> schedule.Late | None:
        """The rank that computes late, if there is one."""
        return schedule.late(self.environment, self.seed, self.hosts)
