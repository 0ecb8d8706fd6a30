# SPDX-License-Identifier: Apache-2.0
"""Sends the bursts, as one process for all hosts.

A socket belongs to the namespace where it was opened. So one process holds a
socket of each host and sends from the host that the schedule names. Nobody
reads the datagrams: the kernel drops them at the full buffer of the victim's
socket.
"""
import socket
import time
from collections.abc import Iterator, MutableSequence, Sequence

from .network import ETHERNET_HEADER, Host
from .schedule import Burst

_PORT = 9  # discard
_SEGMENTS = 16  # datagrams per system call
_IP_AND_UDP = 28
_UDP_SEGMENT, _UDP_GRO = 103, 104
_BEHIND_S = 0.02  # datagrams that are later than this are not sent


class BurstSender:
    def __init__(self, hosts: Sequence[Host], mtu: int,
                 sent: MutableSequence[int]) -> None:
        """Counts in `sent`, for each host, the bytes that it put onto its
        link.
        """
        self._hosts = hosts
        self._sent = sent
        self._datagram = mtu - _IP_AND_UDP
        self._chunk = bytes(self._datagram * _SEGMENTS)
        self._chunk_on_wire = (mtu + ETHERNET_HEADER) * _SEGMENTS
        self._senders, self._sinks = [], []
        for host in hosts:
            with host.entered():
                self._senders.append(self._sender())
                self._sinks.append(_sink())

    def _sender(self) -> socket.socket:
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sender.setblocking(False)
        sender.setsockopt(socket.SOL_UDP, _UDP_SEGMENT, self._datagram)
        return sender

    def run(self, bursts: Iterator[Burst]) -> None:
        """Does not return unless `bursts` ends."""
        began = time.monotonic()
        for burst in bursts:
            self._send(burst, began + burst.start_s)

    def _send(self, burst: Burst, start: float) -> None:
        to = (self._hosts[burst.victim].address, _PORT)
        interval = 8 * self._chunk_on_wire / burst.bits_per_s
        # Within an interval the sources send one after the other.
        turns = len(burst.sources)
        for number in range(int(burst.seconds / interval * turns)):
            due = start + number * interval / turns
            _sleep_until(due)
            if time.monotonic() - due > _BEHIND_S:
                continue
            source = burst.sources[number % turns]
            try:
                self._senders[source].sendto(self._chunk, to)
                self._sent[source] += self._chunk_on_wire
            except BlockingIOError:
                pass  # its own link is full: these datagrams are lost


def _sink() -> socket.socket:
    sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sink.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    sink.setsockopt(socket.SOL_UDP, _UDP_GRO, 1)  # drops whole trains
    sink.bind(("", _PORT))
    return sink


def _sleep_until(moment: float) -> None:
    left = moment - time.monotonic()
    if left > 0:
        time.sleep(left)
