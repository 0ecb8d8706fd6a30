# SPDX-License-Identifier: Apache-2.0
"""The competing traffic and the stalls of an environment, and its byte
counts."""
import mmap
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, MutableSequence, Sequence

from front_end.errors import EXIT_FAILED, UserError

from . import schedule, stalls
from .namespaces import Network
from .network import Host
from .schedule import Burst
from .settings import ETHERNET_HEADER, Settings

_PORT = 9  # discard
_SEGMENTS = 16  # datagrams per system call
_IP_AND_UDP = 28
_UDP_SEGMENT, _UDP_GRO = 103, 104
_BEHIND_S = 0.02  # datagrams that are later than this are not sent
_CHUNK = 1 << 20  # of a TCP flow


class Traffic:
    """A context manager: the traffic runs inside it."""

    def __init__(self, settings: Settings, hosts: Sequence[Host],
                 switch: Network) -> None:
        self._settings = settings
        self._hosts = hosts
        self._switch = switch
        self._processes: list[int] = []
        self.flows = schedule.flows(settings.environment, settings.seed,
                                    len(hosts), settings.flows)
        # Each has one writer, and outlives it.
        self._burst_bytes = _shared(len(hosts))
        self._flow_bytes = _shared(max(1, len(self.flows)))

    def __enter__(self) -> "Traffic":
        try:
            if self._settings.environment.bursts:
                self._start(self._send_bursts)
            if self._settings.environment.stalls:
                self._start(self._stall)
            for index, flow in enumerate(self.flows):
                self._start(lambda f=flow, i=index: BulkFlow(
                    self._hosts[f.source], self._hosts[f.victim],
                    self._flow_bytes, i).run())
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def check(self) -> None:
        """Raises UserError if a part of the traffic has ended."""
        for process in self._processes:
            if os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG
                         | os.WNOWAIT) is not None:
                raise UserError(
                    "the lab's competing traffic has ended (see above), so "
                    "what was measured says nothing. Run it again")

    def burst_bytes(self) -> list[int]:
        """Bytes that bursts put onto each host's link, including headers."""
        return list(self._burst_bytes)

    def flow_bytes(self) -> list[int]:
        """Received bytes of each of `flows`, without headers."""
        return list(self._flow_bytes[:len(self.flows)])

    def _stall(self) -> None:
        _be_on_time()
        settings = self._settings
        kind = (stalls.Pauses(self._hosts)
                if settings.environment.stalls.processes else
                stalls.LinkStalls(self._switch, self._hosts, settings.links))
        began = time.monotonic()
        for stall in schedule.stalls(settings.environment, settings.seed,
                                     len(self._hosts)):
            _sleep_until(began + stall.at_s)
            kind.take(stall)

    def _send_bursts(self) -> None:
        _be_on_time()
        settings = self._settings
        BurstSender(self._hosts, settings.links.mtu, self._burst_bytes).run(
            schedule.bursts(settings.environment, settings.seed,
                            len(self._hosts), settings.links.rate_mbit))

    def _start(self, run: Callable[[], None]) -> None:
        process = os.fork()
        if process:
            self._processes.append(process)
            return
        try:
            run()
        except BaseException:  # or it would go on as a second parent
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(EXIT_FAILED)

    def _end(self) -> None:
        for process in self._processes:
            os.kill(process, signal.SIGKILL)
        for process in self._processes:
            os.waitpid(process, 0)
        self._processes = []


class BurstSender:
    """Sends the bursts, as one process for all hosts.

    A socket belongs to the namespace where it was opened. So one process holds
    a socket of each host and sends from the host that the schedule names.
    Nobody reads the datagrams: the kernel drops them at the full buffer of the
    victim's socket.
    """

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


class BulkFlow:
    """A flow from one host to another."""

    def __init__(self, source: Host, victim: Host,
                 received: MutableSequence[int], index: int) -> None:
        """Counts the received bytes, without headers, in received[index]."""
        self._received = received
        self._index = index
        with victim.entered(), socket.socket() as listener:
            listener.bind((victim.address, 0))
            listener.listen()
            with source.entered():
                self._sender = socket.socket()
            self._sender.connect(listener.getsockname())
            self._receiver, _ = listener.accept()

    def run(self) -> None:
        """Does not return."""
        threading.Thread(target=self._send, daemon=True).start()
        unread = bytearray(_CHUNK)  # with MSG_TRUNC nothing is copied into it
        while True:
            count = self._receiver.recv_into(unread, 0, socket.MSG_TRUNC)
            if count == 0:
                raise ConnectionError("the lab's TCP flow broke off")
            self._received[self._index] += count

    def _send(self) -> None:
        data = bytes(_CHUNK)
        while True:
            self._sender.sendall(data)


def _sink() -> socket.socket:
    sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sink.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    sink.setsockopt(socket.SOL_UDP, _UDP_GRO, 1)  # drops whole trains
    sink.bind(("", _PORT))
    return sink


def _be_on_time() -> None:
    """This process does little, but must be on time under any load."""
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


def _sleep_until(moment: float) -> None:
    left = moment - time.monotonic()
    if left > 0:
        time.sleep(left)


def _shared(count: int) -> memoryview:
    """`count` counters that forked processes share."""
    return memoryview(mmap.mmap(-1, 8 * count)).cast("Q")
