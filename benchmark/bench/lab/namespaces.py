# SPDX-License-Identifier: Apache-2.0
"""Namespaces without names.

A network namespace is an open file of this process only. When this process and
all processes in the namespace have ended, the kernel removes it with all its
devices, addresses and queues. It is invisible in the machine's own namespace.
So nothing can be left behind, and no other namespace can be touched.
"""
import contextlib
import ctypes
import os
from collections.abc import Iterator

from front_end.errors import UserError

NEW_MOUNTS = 0x00020000  # CLONE_NEWNS
NEW_PIDS = 0x20000000  # CLONE_NEWPID
NEW_NETWORK = 0x40000000  # CLONE_NEWNET

MEMORY = "/dev/shm"

_PRIVATE = 1 << 18 | 1 << 14  # MS_PRIVATE | MS_REC
_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG

_libc = ctypes.CDLL(None, use_errno=True)


def _call(what: str, result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise UserError(
            f"the lab cannot {what}: {os.strerror(number)}. It needs root, and "
            "in a container one that may make namespaces (docker run "
            "--privileged)")


def unshare(kind: int) -> None:
    """Puts this thread, or for NEW_PIDS its later children, into new ones."""
    _call("make namespaces", _libc.unshare(kind))


def join(file: int, kind: int) -> None:
    """Puts this thread, or for NEW_PIDS its later children, into that one."""
    _call("enter a namespace", _libc.setns(file, kind))


def end_with_parent(number: int) -> None:
    """The kernel will send this process that signal when its parent dies."""
    _call("tie a process to another",
          _libc.prctl(_PARENT_DEATH_SIGNAL, number, 0, 0, 0))


def own_mounts() -> None:
    """Mounts that only this process and its children see: the /proc of its PID
    namespace, and an empty MEMORY, which ends with them. REQUIRES an own mount
    namespace."""
    _call("keep its mounts to itself",
          _libc.mount(None, b"/", None, _PRIVATE, None))
    _call("mount /proc", _libc.mount(b"proc", b"/proc", b"proc", 0, None))
    _call(f"mount {MEMORY}",
          _libc.mount(b"tmpfs", MEMORY.encode(), b"tmpfs", 0, None))


class Network:
    """A network namespace. A context manager that releases it."""

    def __init__(self) -> None:
        own = _open_own()
        try:
            unshare(NEW_NETWORK)
            try:
                self.file = _open_own()
            finally:
                join(own, NEW_NETWORK)
        finally:
            os.close(own)

    def __enter__(self) -> "Network":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.file)

    @property
    def path(self) -> str:
        """The namespace's path for this process's children. The kernel removes
        it when this process ends."""
        return f"/proc/{os.getpid()}/fd/{self.file}"

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Whatever this thread starts or opens meanwhile is in there."""
        own = _open_own()
        try:
            join(self.file, NEW_NETWORK)
            try:
                yield
            finally:
                join(own, NEW_NETWORK)
        finally:
            os.close(own)


def _open_own() -> int:
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
