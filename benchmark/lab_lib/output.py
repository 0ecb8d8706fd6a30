# SPDX-License-Identifier: Apache-2.0
"""Copies the output of many processes to standard output, line by line."""
import contextlib
import os
import sys
import threading


class Prefixed:
    """A context manager. At its end all output has been written.

    REQUIRES that the writers have ended by then, or are about to end.
    """

    _LINGER_S = 2.0  # for the ranks' children, which are being ended

    def __init__(self, count: int) -> None:
        """Makes a pipe for each process; `files` has the write ends."""
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self.files: list[int] = []
        width = len(str(count - 1))
        for number in range(count):
            read, write = os.pipe()
            self.files.append(write)
            self._threads.append(threading.Thread(
                target=self._copy, args=(read, f"{number:{width}}: ".encode()),
                daemon=True))

    def __enter__(self) -> "Prefixed":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.started()
        for thread in self._threads:
            thread.join(self._LINGER_S)

    def started(self) -> None:
        """All processes have their files now: closes the copies here."""
        for file in self.files:
            os.close(file)
        self.files = []

    def _copy(self, read: int, prefix: bytes) -> None:
        with open(read, "rb") as lines:
            for line in lines:
                with self._lock, contextlib.suppress(BrokenPipeError):
                    sys.stdout.buffer.write(
                        prefix + line.removesuffix(b"\n") + b"\n")
                    sys.stdout.buffer.flush()
