# SPDX-License-Identifier: Apache-2.0
"""Network interfaces: the one that other hosts reach, and those that a user
describes."""
from __future__ import annotations

import array
import fcntl
import ipaddress
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import Union

from .errors import EXIT_USAGE, UserError

_SIOCGIFCONF = 0x8912
_IFREQ_BYTES = 40
_ROUTES = "/proc/net/route"
_ROUTES6 = "/proc/net/ipv6_route"
_ADDRESSES6 = "/proc/net/if_inet6"
_UP = 1  # RTF_UP

_Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]


def addresses() -> dict[str, list[_Address]]:
    """The addresses of each of this host's interfaces."""
    found: dict[str, list[_Address]] = {
        name: [] for _, name in socket.if_nameindex()}
    for name, address in _addresses4():
        found.setdefault(name, []).append(address)
    for number, *_, name in _lines(_ADDRESSES6):
        if name in found:
            found[name].append(ipaddress.IPv6Address(bytes.fromhex(number)))
    return found


def _addresses4() -> list[tuple[str, _Address]]:
    """IPv4 addresses, each with its interface or its label (eth0:1)."""
    entries = array.array("B", bytes(_IFREQ_BYTES * 4096))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        answer = fcntl.ioctl(any_socket, _SIOCGIFCONF, struct.pack(
            "iL", len(entries), entries.buffer_info()[0]))
    used, _ = struct.unpack("iL", answer)
    found: list[tuple[str, _Address]] = []
    for at in range(0, used, _IFREQ_BYTES):
        name, ip = struct.unpack_from("16s4x4s", entries, at)
        found.append((name.rstrip(b"\0").decode(), ipaddress.IPv4Address(ip)))
    return found


def named(text: str, setting: str = "--interface ") -> str:
    """The names of the interfaces that `text` describes, separated by commas.
    It has names, addresses and networks (10.0.0.0/8), separated by commas. With
    a ^ before it, it is one interface that other hosts may reach, but none of
    these.

    Raises UserError, which begins with `setting`, if there is none.
    """
    here = addresses()
    if not text.startswith("^"):
        return ",".join(_found(word, here, setting)
                        for word in text.split(","))
    excluded = {_find(word, here) for word in text[1:].split(",")}  # or None
    routed = default_routes()
    for name in [*routed, *here]:
        if name in here and name not in excluded and any(
                not address.is_loopback for address in here[name]):
            return name
    raise UserError(f"{setting}{text}: no other interface is left; there are "
                    f"{_listed(here)}", EXIT_USAGE)


def for_other_hosts() -> str | None:
    """The interface through which other hosts can reach this one. None if
    Gloo finds it itself.

    Gloo takes the first address of this host that its name resolves to. In
    Debian and Ubuntu, that is loopback by default. Then this is the interface
    of the name's next address, or of the default route. The same holds if the
    name resolves to no address of this host.

    Raises UserError if there is no such address, and no default route.
    """
    name = socket.gethostname()
    try:
        resolved = [info[4] for info in socket.getaddrinfo(
            name, None, type=socket.SOCK_STREAM)]
    except OSError:
        resolved = []
    own = list(map(_parsed, filter(_can_bind, resolved)))
    if own and not own[0].is_loopback:
        return None
    here = addresses()
    for address in own:
        found = None if address.is_loopback else _find(str(address), here)
        if found is not None:
            return found
    routes = default_routes()
    if routes:
        return routes[0]
    listed = ", ".join(sorted({str(_parsed(address)) for address in resolved}))
    where = f"resolves to {listed}" if resolved else "does not resolve"
    raise UserError(
        f"this host's name, {name}, {where}, so other hosts cannot reach it, "
        "and no default route tells its interface; name that with --interface",
        EXIT_USAGE)


def _parsed(address: tuple) -> _Address:
    """A socket's address, without port and scope."""
    return ipaddress.ip_address(address[0].partition("%")[0])


def _can_bind(address: tuple) -> bool:
    """Whether it is an address of this host."""
    family = (socket.AF_INET if _parsed(address).version == 4
              else socket.AF_INET6)
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind(address)
    except OSError:
        return False
    return True


def default_routes() -> list[str]:
    """The interfaces of this host's default routes, the preferred one first.
    IPv4 comes first."""
    found = []
    for line in _lines(_ROUTES)[1:]:
        name, destination, _, flags, _, _, metric, mask, *_ = line
        if destination == mask == "00000000" and int(flags, 16) & _UP:
            found.append((4, int(metric), name))
    for line in _lines(_ROUTES6):
        destination, length, *_, metric, _, _, flags, name = line
        if (int(destination, 16) == int(length, 16) == 0 and name != "lo"
                and int(flags, 16) & _UP):
            found.append((6, int(metric, 16), name))
    return list(dict.fromkeys(name for _, _, name in sorted(found)))


def _lines(path: str) -> list[list[str]]:
    """The words of each line; empty if there is no such file."""
    try:
        with open(path, encoding="ascii") as file:
            return [line.split() for line in file]
    except FileNotFoundError:
        return []


def _find(word: str, here: Mapping[str, Sequence[_Address]]) -> str | None:
    """The interface of that name, or with such an address; None: there is
    none."""
    if word in here:
        return word
    try:
        network = ipaddress.ip_network(word, strict=False)
    except ValueError:
        return None
    for name, own in here.items():
        if any(address in network for address in own):
            return name
    return None


def _found(word: str, here: Mapping[str, Sequence[_Address]],
           setting: str) -> str:
    name = _find(word, here)
    if name is None:
        raise UserError(
            f"{setting}{word}: this host has no interface with that name or "
            f"address; there are {_listed(here)}", EXIT_USAGE)
    return name


def _listed(here: Mapping[str, Sequence[_Address]]) -> str:
    return ", ".join(f"{name} ({', '.join(map(str, own))})" if own else name
                     for name, own in here.items())
