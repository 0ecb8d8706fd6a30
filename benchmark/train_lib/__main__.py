# SPDX-License-Identifier: Apache-2.0
"""Builds, trains, shows."""
import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence

from front_end import preload
from front_end.commands import run_command

from . import arguments as command_line
from . import pytorch, runs
from .algorithms import PLAIN, variables
from .job import Job
from .models import MODELS, packaged_data
from .progress import Progress
from .table import render


def library(arguments: argparse.Namespace) -> str | None:
    if set(arguments.algorithms) == {PLAIN}:
        return None
    return preload.built(arguments.library)


def _command(arguments: argparse.Namespace, data: str,
             seed: int) -> list[str]:
    command = [arguments.python, MODELS[arguments.model].script(),
               "--data", data, "--seed", str(seed),
               "--epochs", str(arguments.epochs)]
    if arguments.steps:
        command += ["--steps", str(arguments.steps)]
    return command


def _train(arguments: argparse.Namespace, torch: str,
           data: str) -> list[dict]:
    path = library(arguments)
    # Algorithms next to each other in time, so that noise meets all alike.
    wanted = [(algorithm, seed) for seed in arguments.seeds
              for algorithm in arguments.algorithms]
    done = []
    with Progress(len(wanted)) as progress:
        for number, (algorithm, seed) in enumerate(wanted):
            seeds = f", seed {seed}" if len(arguments.seeds) > 1 else ""
            progress.begin(number, algorithm + seeds)
            lines = []
            with Job(_command(arguments, data, seed), arguments.ranks,
                     variables(algorithm, path,
                               os.environ.get("LD_PRELOAD", ""))) as job:
                for line in job.lines():
                    lines.append(line)
                    progress.take(line)
                for said in dict.fromkeys(job.said()):
                    print(f"{algorithm}: {said}", file=sys.stderr)
            about = {"model": arguments.model, "algorithm": algorithm,
                     "seed": seed, "ranks": arguments.ranks, "torch": torch}
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
    with tempfile.TemporaryDirectory(prefix="train-") as folder:
        data = arguments.data or packaged_data(arguments.model, folder)
        done = _train(arguments, torch, os.path.abspath(data))
    _show(arguments, torch, done)
    return 0


def main(argv: Sequence[str]) -> int:
    return run_command(_run, argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
