# SPDX-License-Identifier: Apache-2.0
"""Hosts on a switch.

Each host is a network namespace with one interface, eth0. Its other end is a
port of a bridge in another namespace. A link's rate and queue are at both
ends: the host's packets wait at eth0, the switch's packets for the host at the
port.
"""
import contextlib
import ipaddress
import json
import subprocess
import time
from collections.abc import Collection, Iterable, Sequence

from front_end.errors import UserError

from .namespaces import Network
from .settings import ETHERNET_HEADER, Links

INTERFACE = "eth0"

_NETWORK = ipaddress.ip_network("10.77.0.0/16")
_NETWORK_6 = ipaddress.ip_network("fd77::/64")
_SWITCH = "switch"
# How much may be sent at once after the link was idle, or after the timer that
# ends a wait was late.
_BURST_S = 0.001
_BURST_BYTES_MIN = 16000
# A TBF cuts a train that is longer than its burst.
_TRAIN_BYTES_MAX = 72_000
_READY_LIMIT_S = 10.0
_POLL_S = 0.01


class Host:
    """A host, by its number from 0."""

    def __init__(self, number: int, network: Network) -> None:
        self.number = number
        self.network = network
        self.entered = network.entered
        self.address = str(_NETWORK[number + 1])
        self.address_6 = str(_NETWORK_6[number + 1])
        self.mac = f"02:00:00:00:00:{number + 1:02x}"
        self.interface = INTERFACE
        self.port = f"port{number}"


class Switched:
    """A context manager: the hosts, and the switch between them."""

    def __init__(self, hosts: int, links: Links, loss: float = 0,
                 deaf: Collection[int] = (), stalls: bool = False) -> None:
        """`loss` is the share of packets that the switch loses. The hosts
        `deaf` receive no multicast. `stalls`: links can stand still
        (stalls.py), for which they need a TBF: HTB does not wake from a rate
        near zero."""
        self._count = hosts
        self._links = links
        self._loss = loss
        self._deaf = deaf
        self._stalls = stalls
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
            self._wait_for_ports()
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _make_switch(self) -> None:
        mtu = self._links.mtu
        # Without snooping it floods multicast, like a plain switch.
        lines = [f"link add {_SWITCH} type bridge mcast_snooping 0",
                 f"link set {_SWITCH} mtu {mtu} up"]
        for host in self.hosts:
            lines += [
                f"link add {host.port} mtu {mtu} type veth peer "
                f"name {INTERFACE} netns {host.network.path} "
                f"address {host.mac} mtu {mtu}",
                f"link set {host.port} master {_SWITCH} up"]
        _batch(self.switch, "ip", lines)
        _batch(self.switch, "tc", [
            line for host in self.hosts
            for line in self._queue(host.port, self._links.queue_bytes)])
        if self._loss:
            ports = ", ".join(host.port for host in self.hosts)
            _filter(self.switch, f"devices = {{ {ports} }}",
                    f"numgen random mod 1000000 < {self._loss * 1e6:.0f} drop")

    def _set_up(self, host: Host) -> None:
        lines = ["link set lo up",
                 f"addr add {host.address}/{_NETWORK.prefixlen} "
                 f"dev {INTERFACE}",
                 f"addr add {host.address_6}/{_NETWORK_6.prefixlen} "
                 f"dev {INTERFACE} nodad noprefixroute",
                 f"link set {INTERFACE} up"]
        if self._links.segments:
            lines.append(f"link set {INTERFACE} "
                         f"gso_max_segs {self._links.segments}")
        # The usual choice on cloud hosts. It is set on routes, because
        # changing a namespace's default would require changing the machine's.
        lines += [f"route replace {_NETWORK} dev {INTERFACE} "
                  f"src {host.address} congctl cubic",
                  f"route add {_NETWORK_6} dev {INTERFACE} congctl cubic",
                  f"route add 224.0.0.0/4 dev {INTERFACE}"]
        # Static entries: nobody has to send ARP requests into a queue that may
        # be full.
        for other in self.hosts:
            if other is not host:
                lines += [f"neigh replace {address} lladdr {other.mac} "
                          f"nud permanent dev {INTERFACE}"
                          for address in (other.address, other.address_6)]
        _batch(host.network, "ip", lines)
        _batch(host.network, "tc", self._queue(
            INTERFACE, self._links.host_queue_bytes))
        if host.number in self._deaf:
            _filter(host.network, f"device {INTERFACE}",
                    "meta l4proto udp ip daddr 224.0.0.0/4 drop",
                    "meta l4proto udp ip6 daddr ff00::/8 drop")

    def _wait_for_ports(self) -> None:
        """Waits until the kernel notices that all links are up. Until then the
        switch loses the hosts' packets."""
        deadline = time.monotonic() + _READY_LIMIT_S
        while True:
            states = {link["ifname"]: link["state"] for link in json.loads(
                _run(self.switch, ["bridge", "-json", "link", "show"]))}
            waiting = [host.port for host in self.hosts
                       if states.get(host.port) != "forwarding"]
            if not waiting:
                return
            if time.monotonic() > deadline:
                raise UserError(f"the lab's {waiting[0]} does not come up "
                                f"within {_READY_LIMIT_S:.0f} s")
            time.sleep(_POLL_S)

    def _queue(self, device: str, limit_bytes: int) -> Sequence[str]:
        rate = f"{self._links.rate_mbit * 1e6:.0f}bit"
        burst = burst_bytes(self._links, self._stalls)
        if self._stalls:
            return (f"qdisc add dev {device} root handle 1: tbf rate {rate} "
                    f"burst {burst} limit {limit_bytes}",
                    f"qdisc add dev {device} parent 1:1 handle 2: bfifo "
                    f"limit {limit_bytes}")
        return (f"qdisc add dev {device} root handle 1: htb default 1",
                f"class add dev {device} parent 1: classid 1:1 htb "
                f"rate {rate} ceil {rate} burst {burst} cburst {burst} "
                "quantum 60000",
                f"qdisc add dev {device} parent 1:1 handle 2: bfifo "
                f"limit {limit_bytes}")


def burst_bytes(links: Links, trains: bool) -> int:
    """How much may be sent at once, in whole trains or not."""
    return max(_TRAIN_BYTES_MAX if trains else _BURST_BYTES_MIN,
               round(links.rate_mbit * 1e6 / 8 * _BURST_S))


def _batch(network: Network, tool: str, lines: Iterable[str]) -> None:
    _run(network, [tool, "-batch", "-"], "".join(f"{line}\n" for line in lines))


def _filter(network: Network, devices: str, *rules: str) -> None:
    """Installs rules for packets that these devices receive."""
    _run(network, ["nft", "-f", "-"], f"""
        table netdev lab {{
          chain received {{
            type filter hook ingress {devices} priority 0;
            {"; ".join(rules)}
          }}
        }}""")


def _run(network: Network, command: Sequence[str], text: str = "") -> str:
    """Returns the command's standard output."""
    try:
        with network.entered():
            done = subprocess.run(command, input=text, capture_output=True,
                                  text=True, check=False)
    except FileNotFoundError as error:
        raise UserError(f"cannot find {command[0]}; run third_party/install"
                        ) from error
    if done.returncode != 0:
        raise UserError("the lab cannot set up its network: "
                        f"{command[0]}: {done.stderr.strip()}")
    return done.stdout
