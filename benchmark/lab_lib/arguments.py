# SPDX-License-Identifier: Apache-2.0
"""The command line of benchmark/lab."""
import argparse
import shutil
from collections.abc import Sequence

from front_end.options import positive

from . import options
from .environments import ENVIRONMENTS
from .network import INTERFACE

_DESCRIPTION = """\
Makes hosts with links between them on this machine, runs COMMAND on each, and
takes everything away when that ends, in whatever way: Ctrl-C, a crash, SIGKILL.
Nothing outside is touched, and several labs do not meet. Needs root.
"""

_EPILOG = """\
environments
{environments}
  (straggler and varying are for benchmark/compare and benchmark/train, whose
  ranks know how)

what COMMAND finds
  an interface {interface}, 10.77.0.1 on host 0, 10.77.0.2 on host 1 and so on,
  the files and users of this machine, no way out of the lab's network, and in
  its environment RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR,
  MASTER_PORT, GLOO_SOCKET_IFNAME and LAB_HOST, its host's number. That stands
  before each line of its output, too. When it fails on one host, it is ended
  on all.

examples
  benchmark/lab --hosts 2 --rate 100 -- ip -brief address
  benchmark/lab --environment p3 -- gloo_ext/ubtrun train.py
  benchmark/lab --environment lossy -- bash -c 'mine --me $RANK --of $WORLD_SIZE'
  benchmark/lab --hosts 3 --flows 2 -- sleep 10     # how two TCP flows share
  benchmark/compare --lab p3                        # makes its own

exit code
  that of the first COMMAND that failed (128 and its number for a signal); 0 all
  ended well; 1 the lab failed; 2 wrong arguments; 130 interrupted
"""


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The parsed arguments; `in_lab` has the lab's settings. Ends the process
    if an argument is wrong."""
    parser = argparse.ArgumentParser(
        prog="benchmark/lab", description=_DESCRIPTION,
        epilog=_EPILOG.format(
            interface=INTERFACE, environments="\n".join(
                f"  {name:10} {environment.what}"
                for name, environment in ENVIRONMENTS.items())),
        usage="benchmark/lab [options] -- COMMAND [ARGUMENT...]",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False)
    parser.add_argument(
        "--hosts", type=positive(int), metavar="N",
        help=f"so many (default: {options.HOSTS})")
    options.add(parser, "their network", "--environment", "--")
    parser.set_defaults(lab="clean")
    parser.add_argument(  # only checks the arguments
        "--only-check", action="store_true", help=argparse.SUPPRESS)
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
    if ENVIRONMENTS[arguments.lab].lateness:
        parser.error(f"--environment {arguments.lab}: the network is clean, "
                     "and COMMAND would have to be late; benchmark/compare "
                     "and benchmark/train can")
    arguments.command = command
    arguments.in_lab = options.settings(
        parser, arguments, "--", arguments.hosts, "--hosts")
    return arguments


def _split(argv: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Own options, and the words after the first "--"."""
    if "--" not in argv:
        return argv, ()
    at = list(argv).index("--")
    return argv[:at], argv[at + 1:]
