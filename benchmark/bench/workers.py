# SPDX-License-Identifier: Apache-2.0
"""The processes of a comparison: a private Redis and the workers.

Each class is a context manager that ends its processes in every case. Signals
go only to processes that this program started, by process id.
"""
import contextlib
import json
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from front_end.children import end, tail, with_parent
from front_end.errors import EXIT_FAILED, UserError

EXIT_UNSOUND = 3  # a row is wrong or not as named; as the worker's

# When a rank dies, the others fail at once. Waits this long before deciding
# which rank to blame.
_BLAME_GRACE_S = 1.0
_POLL_S = 0.1


class PrivateRedis:
    """A private Redis, on a unix socket in its own folder."""

    def __enter__(self):
        self._folder = tempfile.mkdtemp(prefix="compare-")
        path = os.path.join(self._folder, "redis.sock")
        log_path = os.path.join(self._folder, "redis.log")
        self.url = f"unix://{path}"
        self._process = None
        try:
            with open(log_path, "wb") as log:
                self._process = subprocess.Popen(
                    with_parent([
                        "redis-server", "--port", "0", "--unixsocket", path,
                        "--save", "", "--appendonly", "no", "--daemonize",
                        "no", "--dir", self._folder]),
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    start_new_session=True)
            self._wait_for(path, log_path)
        except FileNotFoundError as error:
            self.__exit__()
            raise UserError(
                "cannot start redis-server: is it installed? Run "
                "third_party/install") from error
        except BaseException:
            self.__exit__()
            raise
        return self

    def _wait_for(self, path, log_path):
        deadline = time.monotonic() + 10
        while not os.path.exists(path):
            if self._process.poll() is not None:
                raise UserError(
                    f"redis-server ended at once: {tail(log_path)}")
            if time.monotonic() > deadline:
                raise UserError("redis-server did not start within 10 s")
            time.sleep(0.01)

    def __exit__(self, *_):
        if self._process is not None:
            end([self._process])
        shutil.rmtree(self._folder, ignore_errors=True)


class Workers:
    """Workers on this machine: all ranks of a local run, or only one."""

    def __init__(self, worker, options, ranks, size, lab=None):
        """Each of `ranks`, an iterable, gets `options`.

        In a `lab` each worker runs on its host, and rank 0 reports its turns.
        """
        self._command = [worker, "--size", str(size)] + options
        self._ranks = list(ranks)
        self._lab = lab
        self._events = queue.Queue()
        self._processes = {}

    def __enter__(self):
        self._folder = tempfile.mkdtemp(prefix="compare-")
        try:
            for rank in self._ranks:
                self._start(rank)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self, rank):
        command = self._command + ["--rank", str(rank)]
        place, environment, stdin = (contextlib.nullcontext(), None,
                                     subprocess.DEVNULL)
        if self._lab:
            place = self._lab.hosts[rank].entered()
            environment = {**os.environ, **self._lab.variables(os.environ)}
            if rank == 0:
                command.append("--turns")
                stdin = subprocess.PIPE
        with open(self._error_path(rank), "wb") as errors, place:
            process = subprocess.Popen(
                with_parent(command), stdin=stdin, stdout=subprocess.PIPE,
                stderr=errors, text=True, start_new_session=True,
                env=environment)
        self._processes[rank] = process
        threading.Thread(
            target=self._read, args=(process.stdout,), daemon=True).start()

    def _error_path(self, rank):
        return os.path.join(self._folder, f"rank{rank}.err")

    def _read(self, stream):
        for line in stream:
            self._events.put(line)
        self._events.put(None)

    def pids(self):
        return {rank: process.pid
                for rank, process in self._processes.items()}

    def events(self):
        """Yields the workers' reports until all workers have succeeded.

        Raises UserError as soon as one fails. Afterwards `warnings` has the
        workers' standard error without errors.
        """
        open_streams = len(self._processes)
        while open_streams:
            try:
                line = self._events.get(timeout=_POLL_S)
            except queue.Empty:
                self._raise_if_failed()
                continue
            if line is None:
                open_streams -= 1
            else:
                yield json.loads(line)
        for process in self._processes.values():
            process.wait()
        self._raise_if_failed()

    def go_on(self):
        """Answers a "turn" event. A lab's rank 0 waits for the answer."""
        with contextlib.suppress(BrokenPipeError):  # ended; see events()
            self._processes[0].stdin.write("\n")
            self._processes[0].stdin.flush()

    def exit_code(self):
        """0 or EXIT_UNSOUND. REQUIRES that `events` has reached its end."""
        return max(p.returncode for p in self._processes.values())

    def warnings(self):
        lines = []
        for rank in self._processes:
            for line in tail(self._error_path(rank), 20).splitlines():
                if line not in lines:
                    lines.append(line)
        return lines

    def _failed(self):
        return {rank: process for rank, process in self._processes.items()
                if process.poll() not in (None, 0, EXIT_UNSOUND)}

    def _raise_if_failed(self):
        if not self._failed():
            return
        deadline = time.monotonic() + _BLAME_GRACE_S
        while (time.monotonic() < deadline
               and len(self._failed()) < len(self._processes)):
            time.sleep(_POLL_S)
        failed = self._failed()
        killed = [rank for rank, process in failed.items()
                  if process.returncode < 0]
        blamed = killed or list(failed)
        words = []
        for rank in blamed:
            words.append(self._explain(rank, failed[rank].returncode))
        raise UserError(
            "\n".join(dict.fromkeys(words)),
            max(EXIT_FAILED, *(failed[rank].returncode for rank in blamed)))

    def _explain(self, rank, code):
        said = tail(self._error_path(rank))
        if code < 0:
            name = signal.Signals(-code).name
            return (f"rank {rank} was ended by {name}"
                    + (f": {said}" if said else "")
                    + "; the other ranks have been ended too")
        said = said or f"ended with exit code {code} and said nothing"
        said = said.removeprefix("error: ")
        return said if said.startswith("rank ") else f"rank {rank}: {said}"

    def __exit__(self, *_):
        end(self._processes.values())
        shutil.rmtree(self._folder, ignore_errors=True)
