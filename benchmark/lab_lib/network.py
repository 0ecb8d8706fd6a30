# SPDX-License-Identifier: Apache-2.0
"""Hosts on a switch.

Each host is a network namespace with one interface, eth0, whose other end is a
port of a bridge in one more namespace. A link's rate and queue are at both its
ends: what the host sends waits at eth0, what the switch sends it at the port.
"""
import contextlib
import dataclasses
import ipaddress
import subprocess
from collections.abc import Iterable, Sequence

from front_end.errors import UserError

from .namespaces import Network

INTERFACE = "eth0"
HOSTS_MAX = 64

_NETWORK = ipaddress.ip_network("10.77.0.0/16")
_SWITCH = "switch"
# What may go out at once after the link was idle, or the timer that ends a
# wait was late.
_BURST_S = 0.001
_BURST_BYTES_MIN = 16000
# A host's own queue: as long as Linux's usual one, 1,000 packets.
_HOST_QUEUE_BYTES = 1_500_000


@dataclasses.dataclass(frozen=True)
class Links:
    rate_mbit: float = 500
    queue_bytes: int = 524288  # of a port, towards its host
    mtu: int = 1500


class Host:
    """A host, by its number from 0."""

    def __init__(self, number: int, network: Network) -> None:
        self.number = number
        self.network = network
        self.entered = network.entered
        self.address = str(_NETWORK[number + 1])
        self.mac = f"02:00:00:00:00:{number + 1:02x}"
        self.interface = INTERFACE


class Switched:
    """A context manager: the hosts, and the switch between them."""

    def __init__(self, hosts: int, links: Links) -> None:
        self._count = hosts
        self._links = links
        self._open = contextlib.ExitStack()
        self.hosts: list[Host] = []

    def __enter__(self) -> "Switched":
        with contextlib.ExitStack() as stack:
            self.switch = stack.enter_context(Network())
            for number in range(self._count):
                self.hosts.append(
                    Host(number, stack.enter_context(Network())))
            self._make_switch()
            for host in self.hosts:
                self._set_up(host)
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _make_switch(self) -> None:
        lines = [f"link add {_SWITCH} type bridge mcast_snooping 0",
                 f"link set {_SWITCH} mtu {self._links.mtu} up"]
        for host in self.hosts:
            port, mtu = port_of(host), self._links.mtu
            lines += [
                f"link add {port} mtu {mtu} type veth peer name {INTERFACE} "
                f"netns {host.network.path} address {host.mac} mtu {mtu}",
                f"link set {port} master {_SWITCH} up"]
        _batch(self.switch, "ip", lines)
        _batch(self.switch, "tc", [
            line for host in self.hosts
            for line in self._queue(port_of(host), self._links.queue_bytes)])

    def _set_up(self, host: Host) -> None:
        prefix = f"{_NETWORK.prefixlen}"
        lines = ["link set lo up",
                 f"addr add {host.address}/{prefix} dev {INTERFACE}",
                 f"link set {INTERFACE} up",
                 # What a cloud's host uses. A route may name it; to make it
                 # a namespace's default the machine's own must be changed.
                 f"route replace {_NETWORK} dev {INTERFACE} "
                 f"src {host.address} congctl cubic"]
        # Nobody has to ask who is where, in a queue that may be full.
        lines += [f"neigh replace {other.address} lladdr {other.mac} "
                  f"nud permanent dev {INTERFACE}"
                  for other in self.hosts if other is not host]
        _batch(host.network, "ip", lines)
        _batch(host.network, "tc", self._queue(INTERFACE, _HOST_QUEUE_BYTES))

    def _queue(self, device: str, limit_bytes: int) -> Sequence[str]:
        rate = f"{self._links.rate_mbit * 1e6:.0f}bit"
        burst = max(_BURST_BYTES_MIN, round(
            self._links.rate_mbit * 1e6 / 8 * _BURST_S))
        return (f"qdisc add dev {device} root handle 1: htb default 1",
                f"class add dev {device} parent 1: classid 1:1 htb "
                f"rate {rate} ceil {rate} burst {burst} cburst {burst} "
                "quantum 60000",
                f"qdisc add dev {device} parent 1:1 handle 2: bfifo "
                f"limit {limit_bytes}")


def port_of(host: Host) -> str:
    return f"port{host.number}"


def _batch(network: Network, tool: str, lines: Iterable[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    try:
        with network.entered():
            done = subprocess.run([tool, "-batch", "-"], input=text,
                                  capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise UserError(f"cannot find {tool}; run third_party/install"
                        ) from error
    if done.returncode != 0:
        raise UserError(f"the lab cannot set up its network: {tool}: "
                        f"{done.stderr.strip() or done.stdout.strip()}")
