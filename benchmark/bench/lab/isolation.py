# SPDX-License-Identifier: Apache-2.0
"""A process that, however it ends, takes all its children with it."""
import os
import select
import signal
import sys
import tempfile
from collections.abc import Callable

from front_end.commands import run_command
from front_end.errors import EXIT_FAILED, UserError

from . import namespaces

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE_S = 15  # after a signal, for an orderly end


def run(main: Callable[[], int]) -> int:
    """Runs `main` in a process of its own. Returns main's result.

    That process is the first one of a PID namespace. When it ends, the kernel
    kills all processes in the namespace. It also ends when this process does,
    even by SIGKILL. So no process can remain, and also none of the namespaces,
    devices and queues that processes hold. Signals that ask this process to
    end are passed on. REQUIRES that this process has one thread.

    Errors of `main` have been printed when this returns.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    ours, theirs = os.pipe()  # closes when this process is gone
    own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    namespaces.unshare(namespaces.NEW_PIDS)
    child = os.fork()
    if child == 0:
        os.close(theirs)
        _be_first(main, ours)
    os.close(ours)
    namespaces.join(own, namespaces.NEW_PIDS)
    os.close(own)
    try:
        return _wait(child)
    finally:
        os.close(theirs)


def _be_first(main: Callable[[], int], parent_lives: int) -> None:
    """Does not return."""
    code = EXIT_FAILED
    try:
        namespaces.end_with_parent(signal.SIGKILL)
        if select.select([parent_lives], [], [], 0)[0]:
            os._exit(EXIT_FAILED)  # the parent died before the call
        os.setsid()  # only the parent passes on a terminal's Ctrl-C
        code = run_command(lambda _: _isolated(main), ())
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # or the child would go on as a second parent
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def _isolated(main: Callable[[], int]) -> int:
    namespaces.unshare(namespaces.NEW_MOUNTS)
    namespaces.own_mounts()
    tempfile.tempdir = namespaces.MEMORY  # files end with us, too
    return main()


def _wait(child: int) -> int:
    def give_up(*_: object) -> None:
        os.kill(child, signal.SIGKILL)

    def pass_on(number: int, _: object) -> None:
        os.kill(child, signal.SIGINT if number == signal.SIGINT
                else signal.SIGTERM)
        signal.alarm(_PATIENCE_S)

    before = {number: signal.signal(number, pass_on) for number in _SIGNALS
              if signal.getsignal(number) != signal.SIG_IGN}
    before[signal.SIGALRM] = signal.signal(signal.SIGALRM, give_up)
    try:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    finally:
        signal.alarm(0)
        for number, handler in before.items():
            signal.signal(number, handler)
    if code < 0:
        raise UserError(f"the lab was ended by {signal.Signals(-code).name}; "
                        "nothing of it is left")
    return code
