# SPDX-License-Identifier: Apache-2.0
"""What many say, on one standard output, line by line."""
import contextlib
import os
import sys
import threading


class Prefixed:
    """A context manager; when it ends, all that was said has been written.

    REQUIRES that whoever says it has ended by then, or nearly.
    """

    _LINGER_S = 2.0  # for what the ranks have started, and is being ended

    def __init__(self, count: int) -> None:
        """A pipe for each, whose writing ends are `files`."""
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
        """All have their files now: those here are closed."""
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
