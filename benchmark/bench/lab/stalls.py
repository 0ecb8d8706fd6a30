# SPDX-License-Identifier: Apache-2.0
"""Hosts that stand still for a while: their links, or their processes."""
import contextlib
import os
import signal
import socket
import struct
from collections.abc import Sequence

from .namespaces import Network
from .network import INTERFACE, Host, burst_bytes
from .schedule import Stall
from .settings import ETHERNET_HEADER, Links

_CHANGE_QDISC, _ERROR = 36, 2
_REQUEST_ACK = 0x5
_KIND, _OPTIONS = 1, 2
_PARAMETERS, _BURST = 1, 6
_HANDLE, _ROOT, _ETHERNET = 0x10000, 0xFFFFFFFF, 1
# Addressed to the next bridge alone, and of a type for experiments.
_TO_SWITCH = bytes.fromhex("0180c200000e")
_EXPERIMENT = b"\x88\xb5"


class _End:
    """One end of a link: a device with a TBF (network.py)."""

    def __init__(self, network: Network, device: str, links: Links,
                 limit_bytes: int) -> None:
        with network.entered():
            self._index = socket.if_nametoindex(device)
            self._netlink = socket.socket(
                socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
            self._raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self._raw.bind((device, 0))
        # A packet in 20 minutes, or the link's rate.
        self._still = self._message(1, links.mtu + 2 * ETHERNET_HEADER,
                                    limit_bytes)
        self._moving = self._message(round(links.rate_mbit * 1e6 / 8),
                                     burst_bytes(links, trains=True),
                                     limit_bytes)

    def _message(self, bytes_per_s: int, burst: int, limit: int) -> bytes:
        """Changes the TBF."""
        rate = struct.pack("=BBHhHI", 0, _ETHERNET, 0, 0, 0, bytes_per_s)
        options = (_attribute(_PARAMETERS, rate + bytes(12)
                              + struct.pack("=III", limit, 0, 0))
                   + _attribute(_BURST, struct.pack("=I", burst)))
        body = (struct.pack("=B3xiIII", 0, self._index, _HANDLE, _ROOT, 0)
                + _attribute(_KIND, b"tbf\0") + _attribute(_OPTIONS, options))
        return struct.pack("=IHHII", 16 + len(body), _CHANGE_QDISC,
                           _REQUEST_ACK, 1, 0) + body

    def stand_still(self) -> None:
        self._ask(self._still)

    def move(self) -> None:
        self._ask(self._moving)
        # A queue that waits for its TBF looks again only when a packet comes.
        # Nobody reads this one.
        with contextlib.suppress(OSError):
            self._raw.send(_TO_SWITCH + bytes(6) + _EXPERIMENT + bytes(46),
                           socket.MSG_DONTWAIT)

    def _ask(self, message: bytes) -> None:
        self._netlink.send(message)
        answer = self._netlink.recv(4096)
        kind, = struct.unpack_from("=4xH", answer)
        error, = struct.unpack_from("=16xi", answer)
        if kind != _ERROR or error:
            raise OSError(-error, "a link of the lab cannot stand still: "
                          + os.strerror(-error))


class LinkStalls:
    """Lets the links of hosts stand still. REQUIRES Switched with `stalls`."""

    def __init__(self, switch: Network, hosts: Sequence[Host],
                 links: Links) -> None:
        self._ends = [
            (_End(host.network, INTERFACE, links, links.host_queue_bytes),
             _End(switch, host.port, links, links.queue_bytes))
            for host in hosts]

    def take(self, stall: Stall) -> None:
        for end in self._ends[stall.host]:
            (end.stand_still if stall.begins else end.move)()


class Pauses:
    """Stops the processes of hosts, as a machine does that takes the CPU from a
    virtual one. This process and its parent are no host's."""

    def __init__(self, hosts: Sequence[Host]) -> None:
        self._networks = [os.fstat(host.network.file).st_ino for host in hosts]
        self._stopped: list[Sequence[int]] = [()] * len(hosts)

    def take(self, stall: Stall) -> None:
        if stall.begins:
            self._stopped[stall.host] = self._processes(stall.host)
        for process in self._stopped[stall.host]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGSTOP if stall.begins
                        else signal.SIGCONT)

    def _processes(self, host: int) -> Sequence[int]:
        found = []
        for name in os.listdir("/proc"):
            if name.isdecimal():
                with contextlib.suppress(OSError):  # it has ended
                    network = os.stat(f"/proc/{name}/ns/net").st_ino
                    if network == self._networks[host]:
                        found.append(int(name))
        return [process for process in found
                if process not in (os.getpid(), os.getppid())]


def _attribute(kind: int, data: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)
