# SPDX-License-Identifier: Apache-2.0
"""What a lab is to be like."""
import dataclasses

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
    deaf: tuple[int, ...] = ()  # hosts that hear no multicast
