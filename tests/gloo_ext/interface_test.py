# SPDX-License-Identifier: Apache-2.0
"""Interfaces of hosts that are made up."""
import contextlib
import ipaddress
import os
import tempfile
import unittest
from unittest import mock

from front_end import interface
from front_end.errors import UserError
from tests import junit_main

HERE = {"lo": ["127.0.0.1", "::1"], "docker0": ["172.17.0.1"],
        "eth0": ["10.0.0.5", "fe80::1"], "eth1": ["192.168.1.5", "fd00::5"],
        "ib0": []}
# The first has no mask of zeros, the second is down.
ROUTES = """\
Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT
eth0 0000000A 00000000 0001 0 0 0 00FFFFFF 0 0 0
ib0 00000000 010200C0 0002 0 0 0 00000000 0 0 0
eth1 00000000 010200C0 0003 0 0 200 00000000 0 0 0
eth0 00000000 010200C0 0003 0 0 100 00000000 0 0 0
"""
ROUTES6 = """\
00000000000000000000000000000000 00 0000 00 fd00 00000400 1 0 00000003 eth1
00000000000000000000000000000000 00 0000 00 0000 ffffffff 1 0 00200201 lo
fd000000000000000000000000000000 40 0000 00 0000 00000100 1 0 00000001 ib0
"""


class Test(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.patch("addresses", lambda: {
            name: list(map(ipaddress.ip_address, own))
            for name, own in HERE.items()})
        self.folder = self.stack.enter_context(tempfile.TemporaryDirectory())
        self.routes(ROUTES, ROUTES6)

    def patch(self, name, value):
        self.stack.enter_context(mock.patch.object(interface, name, value))

    def routes(self, *texts):
        for name, text in zip(("_ROUTES", "_ROUTES6"), texts):
            path = os.path.join(self.folder, name)
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
            self.patch(name, path)

    def host_name(self, *addresses):
        """Makes the host's name resolve to these; to none: not at all."""
        def resolve(*_, **__):
            if not addresses:
                raise OSError("no such name")
            return [(0, 0, 0, "", (address, 0)) for address in addresses]

        self.stack.enter_context(mock.patch.object(
            interface.socket, "getaddrinfo", resolve))
        self.stack.enter_context(mock.patch.object(
            interface.socket, "gethostname", lambda: "host1"))


class Named(Test):
    def test_by_name_address_or_network(self):
        for text, name in (("eth1", "eth1"), ("10.0.0.5", "eth0"),
                           ("192.168.0.0/16", "eth1"), ("fd00::/8", "eth1"),
                           ("eth1,10.0.0.0/8", "eth1,eth0")):
            self.assertEqual(name, interface.named(text))

    def test_without_those_to_avoid(self):
        for text, name in (("^lo", "eth0"), ("^eth0", "eth1"),
                           ("^10.0.0.0/8,nothing", "eth1"),
                           ("^eth0,eth1", "docker0")):
            self.assertEqual(name, interface.named(text))

    def test_mistakes_name_what_there_is(self):
        for text in "eth7", "10.1.1.1", "^eth0,eth1,docker0", "10.0.0.0/99":
            with self.assertRaises(UserError) as caught:
                interface.named(text)
            said = str(caught.exception)
            self.assertTrue(said.startswith(f"--interface {text}: "), said)
            self.assertIn("eth0 (10.0.0.5, fe80::1), eth1", said)


class ForOtherHosts(Test):
    def setUp(self):
        super().setUp()
        self.patch("_can_bind", lambda address: address[0].startswith(
            "127.") or any(address[0] in own for own in HERE.values()))

    def test_gloo_finds_a_name_that_is_not_loopback(self):
        self.host_name("10.0.0.5", "127.0.1.1")
        self.assertIsNone(interface.for_other_hosts())
        self.host_name("10.9.9.9", "10.0.0.5")  # the first is another host's
        self.assertIsNone(interface.for_other_hosts())

    # A distribution and a cluster have each added a line to /etc/hosts.
    def test_gloo_would_take_the_first_address(self):
        self.host_name("127.0.1.1", "192.168.1.5")
        self.assertEqual("eth1", interface.for_other_hosts())

    def test_a_name_of_another_host_means_the_default_route(self):
        self.host_name("10.9.9.9")
        self.assertEqual("eth0", interface.for_other_hosts())

    def test_a_name_that_is_loopback_means_the_default_route(self):
        self.host_name("127.0.1.1", "::1")
        self.assertEqual("eth0", interface.for_other_hosts())

    def test_so_does_a_name_that_does_not_resolve(self):
        self.host_name()
        self.assertEqual("eth0", interface.for_other_hosts())

    def test_ipv6_alone_is_enough(self):
        self.host_name()
        self.routes("heading\n", ROUTES6)
        self.assertEqual("eth1", interface.for_other_hosts())

    def test_without_a_route_it_has_to_be_named(self):
        self.host_name("127.0.1.1")
        self.routes("heading\n", "")
        with self.assertRaisesRegex(
                UserError, "host1, resolves to 127.0.1.1, .*--interface"):
            interface.for_other_hosts()


class ThisHost(unittest.TestCase):
    def test_can_bind_its_own_addresses(self):
        self.assertTrue(interface._can_bind(("127.0.0.1", 0)))
        self.assertFalse(interface._can_bind(("192.0.2.1", 0)))

    def test_has_loopback(self):
        self.assertIn(ipaddress.ip_address("127.0.0.1"),
                      interface.addresses()["lo"])
        self.assertEqual("lo", interface.named("127.0.0.0/8"))


if __name__ == "__main__":
    junit_main.main()
