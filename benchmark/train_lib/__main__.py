# SPDX-License-Identifier: Apache-2.0
"""Builds the library, trains and shows the results."""
import argparse
import contextlib
import dataclasses
import json
import os
import sys
import tempfile
from collections.abc import Sequence

from front_end import preload
from front_end.commands import run_command
from lab_lib import isolation
from lab_lib.lab import Lab

from . import arguments as command_line
from . import lost, pretraining, pytorch, runs
from .algorithms import PLAIN, bounded, variables
from .job import Job
from .models import MODELS, packaged_data
from .progress import Progress
from .table import render


@dataclasses.dataclass(frozen=True)
class _Inputs:
    """The common inputs of all trainings."""

    torch: str  # PyTorch's version
    library: str | None  # the path of the preloaded library
    start: str | None  # the path of the initial weights


def library(arguments: argparse.Namespace) -> str | None:
    if set(arguments.algorithms) == {PLAIN}:
        return None
    return preload.built(arguments.library)


def _command(arguments: argparse.Namespace, data: str, seed: int,
             start: str | None) -> list[str]:
    command = [arguments.python, *MODELS[arguments.model].command(),
               "--data", data, "--seed", str(seed),
               "--epochs", str(arguments.epochs)]
    if start:
        command += ["--start", start]
    if arguments.steps:
        command += ["--steps", str(arguments.steps)]
    if arguments.evaluate_every:
        command += ["--evaluate-every", str(arguments.evaluate_every)]
    lateness = arguments.in_lab and arguments.in_lab.lateness()
    if lateness:
        command += ["--late", f"{lateness.who},{lateness.share},"
                    f"{lateness.seconds}"]
    return command


def _train(arguments: argparse.Namespace, inputs: _Inputs, data: str,
           lab: Lab | None) -> list[dict]:
    # Algorithms alternate, so that noise affects all of them equally.
    wanted = [(algorithm, seed) for seed in arguments.seeds
              for algorithm in arguments.algorithms]
    done = []
    with Progress(len(wanted)) as progress:
        for number, (algorithm, seed) in enumerate(wanted):
            seeds = f", seed {seed}" if len(arguments.seeds) > 1 else ""
            progress.begin(number, algorithm + seeds)
            lines = []
            own = variables(algorithm, inputs.library,
                            os.environ.get("LD_PRELOAD", ""))
            if lab:
                own |= lab.variables(os.environ)
            command = _command(arguments, data, seed, inputs.start)
            share = None
            with lost.reports() as reports:
                if bounded(algorithm):
                    own[lost.FOLDER] = reports
                with Job(command, arguments.ranks, own,
                         lab and lab.hosts) as job:
                    for line in job.lines():
                        lines.append(line)
                        progress.take(line)
                    for said in dict.fromkeys(job.said()):
                        print(f"{algorithm}: {said}", file=sys.stderr)
                if bounded(algorithm):
                    share = lost.share(reports, arguments.ranks)
            about = {"model": arguments.model, "algorithm": algorithm,
                     "seed": seed, "ranks": arguments.ranks,
                     "torch": inputs.torch, "lost": share}
            if lab:
                lab.traffic.check()
                about |= arguments.in_lab.about()
            done.append(runs.make(about, lines))
    return done


def _show(arguments: argparse.Namespace, torch: str,
          done: Sequence[dict]) -> None:
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(done, file, indent=1)
            file.write("\n")
    title = (f"{MODELS[arguments.model].title}, {arguments.ranks} ranks, "
             f"PyTorch {torch}")
    print(f"{title}\n\n{render(done)}", end="")
    if arguments.in_lab:
        print(f"\n{arguments.in_lab}")
    if arguments.plot:
        from .plot import draw
        draw(done, title, arguments.plot)


def _run(argv: Sequence[str]) -> int:
    arguments = command_line.parse(argv)
    if arguments.only_check:
        if arguments.python != pytorch.DEBIANS:
            pytorch.version(arguments.python)
        print("\n".join(command_line.package_lists(arguments)))
        return 0
    torch = pytorch.version(arguments.python)
    # Outside the lab: the build leaves a Bazel server running for the next
    # one.
    inputs = _Inputs(torch, library(arguments), pretraining.weights(
        MODELS[arguments.model], arguments.python, torch))
    if arguments.in_lab:
        return isolation.run(lambda: _train_and_show(arguments, inputs))
    return _train_and_show(arguments, inputs)


def _train_and_show(arguments: argparse.Namespace, inputs: _Inputs) -> int:
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(
            tempfile.TemporaryDirectory(prefix="train-"))
        data = arguments.data or packaged_data(
            MODELS[arguments.model], folder)
        lab = (stack.enter_context(Lab(arguments.in_lab))
               if arguments.in_lab else None)
        done = _train(arguments, inputs, os.path.abspath(data), lab)
    _show(arguments, inputs.torch, done)
    return 0


def main(argv: Sequence[str]) -> int:
    return run_command(_run, argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
