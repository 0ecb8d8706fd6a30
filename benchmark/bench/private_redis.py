# SPDX-License-Identifier: Apache-2.0
"""A private Redis, where the ranks of a comparison meet."""
import contextlib
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator

from front_end.children import end, tail, with_parent
from front_end.errors import UserError

_LIMIT_S = 10


@contextlib.contextmanager
def private_redis() -> Iterator[str]:
    """Its address: a unix socket in a folder of its own. It ends with the
    context, or with this process."""
    with tempfile.TemporaryDirectory(prefix="compare-") as folder:
        path = os.path.join(folder, "redis.sock")
        log_path = os.path.join(folder, "redis.log")
        try:
            with open(log_path, "wb") as log:
                process = subprocess.Popen(
                    with_parent([
                        "redis-server", "--port", "0", "--unixsocket", path,
                        "--save", "", "--appendonly", "no", "--daemonize",
                        "no", "--dir", folder]),
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    start_new_session=True)
        except FileNotFoundError as error:
            raise UserError("cannot start redis-server: is it installed? Run "
                            "third_party/install") from error
        try:
            _wait_for(path, process, log_path)
            yield f"unix://{path}"
        finally:
            end([process])


def _wait_for(path: str, process: subprocess.Popen, log_path: str) -> None:
    deadline = time.monotonic() + _LIMIT_S
    while not os.path.exists(path):
        if process.poll() is not None:
            raise UserError(f"redis-server ended at once: {tail(log_path)}")
        if time.monotonic() > deadline:
            raise UserError(
                f"redis-server did not start within {_LIMIT_S} s")
        time.sleep(0.01)
