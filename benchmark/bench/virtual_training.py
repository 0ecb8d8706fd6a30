# SPDX-License-Identifier: Apache-2.0
"""Trainings in virtual time: what benchmark/train --virtual adds."""
import argparse
import os

from front_end import bazel
from front_end.errors import EXIT_USAGE, UserError
from front_end.options import at_least, positive

from . import algorithms, simulated_network
from .lab import schedule
from .models import MODELS
from .simulator import text_of

LIBRARY = "//benchmark/virtual:libvirtual_job.so"
RANKS = 8

_SCRIPT = os.path.join(bazel.ROOT, "benchmark", "virtual", "train.py")
_COMPUTE_MS = 50
_GROUPS = 4  # of hierarchical algorithms, as of benchmark/simulate
_TIMEOUT_NS = 60 * 10**9
_OWN = ("compute", "compute_tail")


def add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "in virtual time", "One process trains all replicas. The simulator "
        "(benchmark/simulate) adds up their gradients, and says how long that "
        "takes. Exact algorithms run over a simulated TCP. --lab names the "
        "links and traffic of a lab; without it:")
    group.add_argument(
        "--virtual", action="store_true",
        help=f"train in virtual time, with {RANKS} ranks by default")
    group.add_argument(
        "--compute", type=positive(float), metavar="MS",
        help="median time that a rank computes in a step, in ms (default: "
        f"{_COMPUTE_MS})")
    group.add_argument(
        "--compute-tail", type=at_least(1, ": a tail, P99/50, is at least 1"),
        metavar="P99/50", help="of these times (default: 1)")
    simulated_network.add_options(group)


def check(parser: argparse.ArgumentParser,
          arguments: argparse.Namespace) -> None:
    """Fills in defaults. Ends the process if an option is wrong. REQUIRES
    arguments.ranks."""
    if not arguments.virtual:
        other = simulated_network.given(arguments) or next(
            (f"--{name.replace('_', '-')}" for name in _OWN
             if getattr(arguments, name)), None)
        if other:
            parser.error(f"{other}: only with --virtual")
        return
    if arguments.lab:
        why = simulated_network.why_not(arguments.lab)
        if why:
            parser.error(f"--lab {arguments.lab.name}: {why}")
    simulated_network.complete(parser, arguments, arguments.ranks)
    if arguments.tail and len(arguments.tail) > 1:
        parser.error("--tail: one at a time, with --virtual")
    arguments.compute = arguments.compute or _COMPUTE_MS
    arguments.compute_tail = arguments.compute_tail or 1


def check_algorithms(arguments: argparse.Namespace) -> None:
    """Raises UserError if the simulator lacks one."""
    if algorithms.PLAIN in arguments.algorithms:
        raise UserError(f"--algorithms: {algorithms.PLAIN} is not simulated; "
                        "ring is", EXIT_USAGE)
    algorithms.choose(arguments.binary or bazel.build(algorithms.SIMULATOR),
                      arguments.algorithms, arguments.ranks)


def command(arguments: argparse.Namespace, algorithm: str, seed: int,
            library: str) -> list[str]:
    """The script and its arguments, without those that a training on sockets
    has, too."""
    model = MODELS[arguments.model]
    lateness = arguments.lab and schedule.late(arguments.lab, seed,
                                               arguments.ranks)
    late = (["--late", f"{lateness.who},{lateness.share},{lateness.seconds}"]
            if lateness else [])
    tail = arguments.tail[0] if arguments.tail else None
    own = {"seed": seed, "timeout_ns": _TIMEOUT_NS, "tcp": 1,
           **simulated_network.options_of(arguments, tail, seed,
                                          arguments.ranks),
           **arguments.also}
    if algorithms.base(algorithm).startswith("hierarchical_"):
        own["groups"] = _GROUPS
    return [_SCRIPT, model.script_name.removesuffix(".py"), *model.options,
            "--library", library, "--algorithm", algorithm, "--options",
            text_of(own), "--ranks", str(arguments.ranks), "--compute-ms",
            str(arguments.compute), "--compute-tail",
            str(arguments.compute_tail), *late]
