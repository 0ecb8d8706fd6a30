# SPDX-License-Identifier: Apache-2.0
"""Links, queues and the switch, in this process."""
import contextlib
import os
import signal
import socket
import struct
import subprocess
import unittest

import namespaces_or_skip
import waiting
from bench.lab.counters import Queues
from bench.lab.environments import ENVIRONMENTS
from bench.lab.network import Switched
from bench.lab.schedule import Burst, Stall
from bench.lab.settings import Links, Settings
from bench.lab.stalls import LinkStalls, Pauses
from bench.lab.traffic import BurstSender, Traffic
from front_end.errors import UserError
from tests import junit_main

_PORT = 5000
_GROUP = "239.1.2.3"
_LIMIT_S = 5.0
_SO_RCVBUFFORCE, _UDP_SEGMENT = 33, 103
_QUIET = 4000  # bytes of a host's own messages (IPv6)


def children():
    """Process ids of this process's children, ended or not."""
    with open("/proc/thread-self/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


@unittest.skipIf(namespaces_or_skip.why_not(), namespaces_or_skip.why_not())
class NetworkTest(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)

    def make(self, count, links=Links(), **more):
        self.network = self.stack.enter_context(Switched(count, links, **more))
        return self.network.hosts

    def datagrams(self, host, family=socket.AF_INET):
        """A bound socket on `host`."""
        with host.entered():
            opened = self.stack.enter_context(
                socket.socket(family, socket.SOCK_DGRAM))
        opened.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 1 << 22)
        opened.settimeout(_LIMIT_S)
        opened.bind(("", _PORT))
        return opened

    def received(self, receiver, senders=1):
        """All datagrams until "end" has come from this many senders."""
        got, ended = [], set()
        while len(ended) < senders:
            data, sender = receiver.recvfrom(1 << 16)
            if data == b"end":
                ended.add(sender)
            else:
                got.append(data)
        return got

    def send_end(self, sender, address):
        """Repeats "end" until it must arrive, after waiting datagrams."""
        for _ in range(20):
            sender.sendto(b"end", (address, _PORT))

    def test_this_machine_sees_nothing_of_it(self):
        def seen():
            return subprocess.run(["ip", "-o", "link"], capture_output=True,
                                  text=True, check=True).stdout
        before = seen()
        self.make(3)
        self.assertEqual(before, seen())
        self.stack.close()
        self.assertEqual(before, seen())

    def test_all_meet_all(self):
        for family, name in ((socket.AF_INET, "address"),
                             (socket.AF_INET6, "address_6")):
            hosts = self.make(3)
            sockets = [self.datagrams(host, family) for host in hosts]
            for number, sender in enumerate(sockets):
                for other in hosts:
                    sender.sendto(bytes([number]),
                                  (getattr(other, name), _PORT))
            for receiver in sockets:
                self.assertEqual({b"\0", b"\1", b"\2"},
                                 {receiver.recv(9) for _ in hosts})
            self.stack.close()

    def test_two_labs_do_not_meet(self):
        ours, others = self.make(2), self.make(2)
        receivers = [self.datagrams(lab[1]) for lab in (ours, others)]
        for lab, word in ((ours, b"ours"), (others, b"others")):
            sender = self.datagrams(lab[0])
            sender.sendto(word, (lab[1].address, _PORT))
            self.send_end(sender, lab[1].address)
        self.assertEqual([[b"ours"], [b"others"]],
                         [self.received(receiver) for receiver in receivers])

    def test_tcp_is_cubic_there_and_untouched_here(self):
        def default():
            with open("/proc/sys/net/ipv4/tcp_congestion_control",
                      encoding="ascii") as file:
                return file.read()
        before = default()
        hosts = self.make(2)
        for family, name in ((socket.AF_INET, "address"),
                             (socket.AF_INET6, "address_6")):
            with hosts[0].entered():
                listener = self.stack.enter_context(socket.socket(family))
            with hosts[1].entered():
                client = self.stack.enter_context(socket.socket(family))
            listener.bind((getattr(hosts[0], name), 0))
            listener.listen()
            client.settimeout(_LIMIT_S)
            client.connect(listener.getsockname())
            server, _ = listener.accept()
            with server:
                for end in (client, server):
                    self.assertEqual(b"cubic", end.getsockopt(
                        socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16
                    ).rstrip(b"\0"))
        self.assertEqual(before, default())

    def test_queues_count_the_headers_of_each_segment(self):
        hosts = self.make(2)
        queues = Queues(hosts[0].network)
        sender, receiver = map(self.datagrams, hosts)
        before = queues.read().sent_bytes
        sender.setsockopt(socket.SOL_UDP, _UDP_SEGMENT, 1000)
        sender.sendto(bytes(60 * 1000), (hosts[1].address, _PORT))
        for _ in range(60):
            self.assertEqual(1000, len(receiver.recv(1 << 16)))
        sent = queues.read().sent_bytes - before
        self.assertGreaterEqual(sent, 60 * 1042)
        self.assertLess(sent, 60 * 1042 + _QUIET)

    def test_what_a_queue_has_no_room_for_is_lost(self):
        hosts = self.make(3, Links(rate_mbit=10, queue_bytes=100_000))
        switch = Queues(self.network.switch)
        senders = [self.datagrams(host) for host in hosts[:2]]
        receiver = self.datagrams(hosts[2])
        # Each sends at its link's rate, together at twice the receiver's. So
        # half of the datagrams have to wait in the end.
        for number in range(300):
            for sender in senders:
                sender.sendto(bytes(1000), (hosts[2].address, _PORT))
        for sender in senders:
            self.send_end(sender, hosts[2].address)
        got = len(self.received(receiver, 2))
        dropped = switch.read().dropped
        self.assertGreater(dropped, 100)
        self.assertLess(dropped, 300)
        self.assertGreaterEqual(got + dropped, 600)
        self.assertLessEqual(got, 600)

    def test_loss(self):
        hosts = self.make(2, loss=0.5)
        sender, receiver = map(self.datagrams, hosts)
        for _ in range(400):
            sender.sendto(b"x", (hosts[1].address, _PORT))
        self.send_end(sender, hosts[1].address)
        # The probability of a larger deviation from 200 is below 10^-20.
        self.assertTrue(100 < len(self.received(receiver)) < 300)

    def test_multicast_is_heard_by_all_but_the_deaf(self):
        hosts = self.make(4, deaf=(1, 3))
        sockets = [self.datagrams(host) for host in hosts]
        for receiver, host in zip(sockets, hosts):
            receiver.setsockopt(
                socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, struct.pack(
                    "4s4s", socket.inet_aton(_GROUP),
                    socket.inet_aton(host.address)))
        sockets[0].setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 0)
        sockets[0].setsockopt(socket.SOL_UDP, _UDP_SEGMENT, 1000)
        sockets[0].sendto(bytes(2000), (_GROUP, _PORT))
        sockets[0].setsockopt(socket.SOL_UDP, _UDP_SEGMENT, 0)
        heard = []
        for host, receiver in zip(hosts[1:], sockets[1:]):
            self.send_end(sockets[0], host.address)
            heard.append([len(data) for data in self.received(receiver)])
        self.assertEqual([[], [1000, 1000], []], heard)

    def test_bursts_are_as_long_and_strong_as_planned(self):
        links = Links(rate_mbit=100)
        hosts = self.make(4, links)
        sent = [0] * 4
        sender = BurstSender(hosts, links.mtu, sent)
        victim = Queues(hosts[3].network)
        before = self.network_bytes(hosts)
        sender.run(iter([Burst(0.01, 0.1, (0, 2), 3, 20e6),
                         Burst(0.12, 0.1, (1,), 3, 40e6)]))
        for host, bits in ((0, 2e6), (2, 2e6), (1, 4e6)):
            # On a busy machine some may be too late to be sent.
            self.assertLessEqual(8 * sent[host], bits)
            self.assertGreaterEqual(8 * sent[host], 0.5 * bits)
        self.assertEqual(0, sent[3])
        self.assertLess(victim.read().sent_bytes, _QUIET)
        for host, counted, now, earlier in zip(
                hosts, sent, self.network_bytes(hosts), before):
            self.assertGreaterEqual(now - earlier, counted - 30_000, host)
            self.assertLess(now - earlier, counted + _QUIET, host)

    def test_a_link_that_stands_still_delivers_everything_later(self):
        links = Links()
        hosts = self.make(3, links, stalls=True)
        still = LinkStalls(self.network.switch, hosts, links)
        sockets = [self.datagrams(host) for host in hosts]
        for sender, receiver in ((0, 1), (1, 0)):
            still.take(Stall(0, 1, True))
            for _ in range(20):
                sockets[sender].sendto(
                    bytes(1000), (hosts[receiver].address, _PORT))
            sockets[2].sendto(b"others", (hosts[0].address, _PORT))
            if receiver == 0:
                self.assertEqual(b"others", self.next_but(sockets[0], 1000))
            sockets[receiver].settimeout(0.2)
            got = 0
            with contextlib.suppress(TimeoutError):
                while len(sockets[receiver].recv(2000)) == 1000:
                    got += 1
            self.assertLessEqual(got, 1)
            still.take(Stall(0, 1, False))
            sockets[receiver].settimeout(_LIMIT_S)
            while got < 19:
                got += len(sockets[receiver].recv(2000)) == 1000

    def next_but(self, receiver, length):
        """The next datagram that is not that long."""
        while True:
            data = receiver.recv(2000)
            if len(data) != length:
                return data

    def test_a_paused_host_goes_on_later(self):
        hosts = self.make(2)
        with hosts[1].entered():
            process = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        pauses = Pauses(hosts)

        def state():
            with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
                return file.read().rsplit(")", 1)[1].split()[0]

        for begins, wanted in ((True, "T"), (False, "S")):
            pauses.take(Stall(0, 0, begins))
            self.assertNotEqual("T" if begins else "S", state())
            pauses.take(Stall(0, 1, begins))
            waiting.wait_for(lambda w=wanted: state() == w, _LIMIT_S)

    def test_traffic_that_ends_is_an_error(self):
        hosts = self.make(3)
        settings = Settings(ENVIRONMENTS["p3"], hosts=3, flows=2)
        traffic = self.stack.enter_context(
            Traffic(settings, hosts, self.network.switch))
        traffic.check()
        for number, process in enumerate(children()):
            self.assertEqual(3, len(children()), number)
            os.kill(process, signal.SIGKILL)
            os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
            with self.assertRaisesRegex(UserError, "says nothing"):
                traffic.check()
        self.stack.close()
        self.assertEqual([], children())

    def network_bytes(self, hosts):
        return [Queues(host.network).read().sent_bytes for host in hosts]


if __name__ == "__main__":
    junit_main.main()
