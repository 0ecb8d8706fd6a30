# SPDX-License-Identifier: Apache-2.0
"""A TCP flow that sends as much as it can, and its throughput."""
import socket
import threading
from collections.abc import MutableSequence

from .network import Host

_CHUNK = 1 << 20


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
