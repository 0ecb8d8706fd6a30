# SPDX-License-Identifier: Apache-2.0
"""benchmark/lab: runs a command on all hosts of a lab."""
import argparse
import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Mapping, Sequence

from front_end.commands import run_command
from front_end.local_ranks import LocalRanks, exit_code, how
from front_end.options import positive

from .. import options
from . import isolation, settings
from .environments import ENVIRONMENTS
from .lab import Lab
from .network import INTERFACE

_POLL_S = 0.05
_GRACE_S = 8.0  # as ubtrun's, and longer than the library waits

_DESCRIPTION = """\
Makes hosts with links between them on this machine, runs COMMAND on each, and
takes everything away when that ends, in whatever way: Ctrl-C, a crash, SIGKILL.
Nothing outside is touched, and several labs do not meet. Needs root.
"""

_EPILOG = """\
environments
{environments}
  (straggler, varying, varying10 and jitter are for benchmark/compare and
  benchmark/train, whose ranks know how)

a host
  Its interface is {interface}: 10.77.0.1 on host 0, 10.77.0.2 on host 1 and so
  on. It has this machine's files and users, and no way out of the lab's
  network. COMMAND's environment has RANK, WORLD_SIZE, LOCAL_RANK,
  LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT, GLOO_SOCKET_IFNAME and LAB_HOST.
  LAB_HOST is the host's number, which also begins each line of output. If
  COMMAND fails on one host, it is ended on all.

examples
  benchmark/lab --hosts 2 --rate 100 -- ip -brief address
  benchmark/lab --environment p3 -- gloo_ext/ubtrun train.py
  benchmark/lab --environment lossy -- bash -c 'mine $RANK $WORLD_SIZE'
  benchmark/lab --hosts 3 --flows 2 -- sleep 10     # how two TCP flows share
  benchmark/compare --lab p3                        # makes its own

exit code
  that of the first COMMAND that failed (128 and its number for a signal); 0 all
  ended well; 1 the lab failed; 2 wrong arguments; 130 interrupted
"""


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The parsed arguments; `in_lab` has the lab's settings. Ends the process
    if an argument is wrong."""
    parser = options.parser("lab", _DESCRIPTION, _EPILOG.format(
        interface=INTERFACE, environments="\n".join(
            f"  {name:10} {environment.what}"
            for name, environment in ENVIRONMENTS.items())))
    parser.usage = "benchmark/lab [options] -- COMMAND [ARGUMENT...]"
    parser.add_argument(
        "--hosts", type=positive(int), metavar="N",
        help=f"number of hosts (default: {settings.Settings.hosts})")
    settings.add_options(parser, "their network", "--environment", "--")
    parser.set_defaults(lab=ENVIRONMENTS["clean"])
    own, command = _split(argv)
    arguments, more = parser.parse_known_args(own)
    if more:
        parser.error(f"there is no option '{more[0]}'; COMMAND has to follow "
                     "--, for example benchmark/lab -- ip -brief address")
    if not command:
        parser.error("COMMAND is missing; write it after --, for example "
                     "benchmark/lab -- ip -brief address")
    if shutil.which(command[0]) is None:
        parser.error(f"there is no command '{command[0]}' here; name one, or "
                     "the path of one")
    if arguments.lab.lateness:
        parser.error(f"--environment {arguments.lab.name}: the network is "
                     "clean, and COMMAND would have to be late; benchmark/compare "
                     "and benchmark/train can")
    arguments.command = command
    arguments.in_lab = settings.settings(
        parser, arguments, "--", arguments.hosts, "--hosts")
    return arguments


def _split(argv: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Own options, and the words after the first "--"."""
    if "--" not in argv:
        return argv, ()
    at = list(argv).index("--")
    return argv[:at], argv[at + 1:]


def _on_all(arguments: argparse.Namespace) -> int:
    with Lab(arguments.in_lab) as lab:
        began, before = time.monotonic(), lab.traffic.flow_bytes()
        code = _run(arguments.command, lab)
        seconds = time.monotonic() - began
        for flow, old, new in zip(lab.traffic.flows, before,
                                  lab.traffic.flow_bytes()):
            print(f"TCP flow from host {flow.source} to host {flow.victim}: "
                  f"{8e-6 * (new - old) / seconds:.1f} of "
                  f"{lab.settings.links.rate_mbit:g} Mbit/s", file=sys.stderr)
        return code


def _run(command: Sequence[str], lab: Lab) -> int:
    """Returns the exit code of the first that failed, or 0."""
    count = len(lab.hosts)
    environment = {**os.environ, **lab.variables(os.environ)}
    with contextlib.ExitStack() as stack:
        output = stack.enter_context(Prefixed(count)) if count > 1 else None
        ranks = stack.enter_context(LocalRanks(
            command, count, environment, output and output.files, _GRACE_S,
            lab.hosts))
        if output:
            output.started()
        while None in ranks.codes() and not any(ranks.codes()):
            lab.traffic.check()
            time.sleep(_POLL_S)
        blamed = ranks.blamed()
        if blamed:
            ranks.end()
    return _blame(blamed, count) if blamed else 0


def _blame(blamed: Mapping[int, int], count: int) -> int:
    for host, code in blamed.items():
        print(f"error: host {host}'s command {how(code)}", file=sys.stderr)
    if len(blamed) < count:
        print("those of the other hosts have been ended, too", file=sys.stderr)
    return exit_code(blamed)


class Prefixed:
    """Copies the output of many processes to standard output, line by line. A
    context manager. At its end all output has been written.

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


def _main(argv: Sequence[str]) -> int:
    arguments = parse_arguments(argv)
    if arguments.only_check:
        return options.checked()
    return isolation.run(lambda: _on_all(arguments))


def main(argv: Sequence[str]) -> int:
    return run_command(_main, argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
