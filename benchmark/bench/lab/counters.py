# SPDX-License-Identifier: Apache-2.0
"""What the kernel counts: traffic in queues of links, and use of the CPUs."""
import contextlib
import dataclasses
import os
import socket
import struct
from collections.abc import Iterator

from .namespaces import Network

_NEW_QDISC, _GET_QDISC = 36, 38
_DONE, _ERROR = 3, 2
_REQUEST_DUMP = 0x301
_KIND, _STATS2 = 1, 7
_BASIC, _QUEUE = 1, 3
_LEAF = b"bfifo\0"
_ANSWER_MAX = 1 << 16

_LATENCY = "/dev/cpu_dma_latency"
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass(frozen=True)
class Count:
    sent_bytes: int = 0
    dropped: int = 0  # packets; a train of segments is one


class Queues:
    """All queues of a network namespace, over one netlink socket.

    Queues count all bytes on a link, including Ethernet's and the headers of
    each segment. Devices count a train of segments as if it had one header.
    """

    def __init__(self, network: Network) -> None:
        with network.entered():
            self._socket = socket.socket(
                socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)

    def read(self) -> Count:
        """The sum over all queues, since their creation."""
        self._socket.send(struct.pack("=IHHIIB3xiIII", 36, _GET_QDISC,
                                      _REQUEST_DUMP, 1, 0, 0, 0, 0, 0, 0))
        sent_bytes = dropped = 0
        while True:
            answer = self._socket.recv(_ANSWER_MAX)
            at = 0
            while at < len(answer):
                length, kind = struct.unpack_from("=IH", answer, at)
                if kind == _DONE:
                    return Count(sent_bytes, dropped)
                if kind == _ERROR:
                    raise OSError("netlink refused to count")
                if kind == _NEW_QDISC:
                    sent, lost = _of_queue(answer[at + 36:at + length])
                    sent_bytes += sent
                    dropped += lost
                at += (length + 3) & ~3


def _of_queue(attributes: bytes) -> tuple[int, int]:
    found = dict(_attributes(attributes))
    if found.get(_KIND) != _LEAF:
        return 0, 0
    stats = dict(_attributes(found[_STATS2]))
    return (struct.unpack_from("=Q", stats[_BASIC])[0],
            struct.unpack_from("=8xI", stats[_QUEUE])[0])


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        yield kind & 0x3fff, data[at + 4:at + length]
        at += max(4, (length + 3) & ~3)


@contextlib.contextmanager
def awake() -> Iterator[None]:
    """Makes idle CPUs wait for work instead of sleeping. Waking a CPU, above
    all a virtual one, takes longer than the messages between hosts. The kernel
    drops this setting when the process ends."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # then they sleep
            file = stack.enter_context(open(_LATENCY, "wb", buffering=0))
            file.write(bytes(4))  # microseconds that waking may take
        yield


def cpu_times() -> dict[str, float]:
    """Seconds of all CPUs together, since some time: `idle`, `others` (used by
    other processes and machines), and their `total`. The lab's hosts share CPUs
    with each other and with all other processes. A virtual machine shares them
    with other machines.

    REQUIRES isolation.run: its /proc contains only the lab's processes."""
    with open("/proc/stat", encoding="ascii") as file:
        ticks = [int(word) for word in file.readline().split()[1:9]]
    user, nice, system, idle, waiting, _, _, stolen = ticks
    return {"idle": (idle + waiting) / _TICKS,
            "others": (user + nice + system + stolen) / _TICKS - _own_ticks(),
            "total": sum(ticks) / _TICKS}


def _own_ticks() -> float:
    """Of all processes in this /proc, and those they have waited for."""
    total = 0
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8",
                          errors="replace") as file:
                    words = file.read().rsplit(")", 1)[1].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            total += sum(map(int, words[11:15]))
    return total / _TICKS
