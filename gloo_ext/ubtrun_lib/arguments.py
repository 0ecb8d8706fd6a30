# SPDX-License-Identifier: Apache-2.0
"""What ubtrun is asked to do."""
import argparse

ALGORITHMS = ("optireduce", "transpose", "ring", "bcube", "halving_doubling")

_EPILOG = """\
On one host:
  gloo_ext/ubtrun --nproc-per-node 4 train.py --epochs 3

As one of many, started by a launcher (torchrun, srun, mpirun), without
--nproc-per-node; what the launcher says of ranks is passed on:
  torchrun --nproc-per-node 4 --no-python gloo_ext/ubtrun train.py
  srun --ntasks 16 gloo_ext/ubtrun train.py
  mpirun -n 16 -x MASTER_ADDR -x MASTER_PORT gloo_ext/ubtrun train.py

By hand, with any launcher: the lines that --print-env prints.

Every other GLOO_UBT_* variable (docs/configuration.md) reaches the ranks as it
is. Exit code: 0 if every rank ended with 0; else the first other one's, or 128
and the signal's number."""


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(
        prog="ubtrun", epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Runs a PyTorch script with backend=\"gloo\", untouched, "
        "over a bounded allreduce.")
    result.add_argument(
        "--nproc-per-node", type=_positive, metavar="N",
        help="start N local ranks; without it, this is one rank of a "
        "launcher's job")
    result.add_argument(
        "--algo", choices=ALGORITHMS, default="optireduce",
        help="which allreduce (GLOO_ALGO; default: %(default)s)")
    result.add_argument(
        "--repair", choices=("none", "broadcast", "both"),
        help="what is asked for again when lost (GLOO_UBT_REPAIR)")
    result.add_argument(
        "--bound", metavar="TIME",
        help="a stage's bound, such as 20ms, instead of a learned one "
        "(GLOO_UBT_BOUND)")
    result.add_argument(
        "--min-bytes", metavar="BYTES",
        help="smallest bounded allreduce (GLOO_UBT_MIN_BYTES)")
    result.add_argument(
        "--report", metavar="DIR",
        help="write a report on every call there (GLOO_UBT_REPORT)")
    result.add_argument(
        "--interface", metavar="NAME",
        help="the network interface (GLOO_SOCKET_IFNAME)")
    result.add_argument(
        "--python", metavar="PATH", default="python3",
        help="the Python that has torch (default: %(default)s, from PATH)")
    result.add_argument(
        "--print-env", action="store_true",
        help="print what to set to do the same by hand, and end")
    result.add_argument("--only-check", action="store_true",
                        help=argparse.SUPPRESS)
    result.add_argument("script", nargs="?", help="the training script")
    result.add_argument("arguments", nargs=argparse.REMAINDER,
                        help="its arguments")
    return result


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("needs 1 or more")
    return number


def parse(words: list[str]) -> argparse.Namespace:
    """The arguments; ends the process, with a message, if they make no
    sense."""
    parsing = parser()
    options = parsing.parse_args(words)
    if options.script is None and not options.print_env:
        parsing.error("which script? gloo_ext/ubtrun [options] train.py ...")
    return options
