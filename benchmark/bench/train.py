# SPDX-License-Identifier: Apache-2.0
"""benchmark/train: trains a model with several algorithms, and shows what that
does to time, loss and accuracy."""
import argparse
import contextlib
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence

from front_end import bazel, preload
from front_end.columns import three_digits
from front_end.commands import run_command
from front_end.errors import EXIT_USAGE, UserError
from front_end.options import between, list_of, one_of, positive

from . import (algorithms, findings, job, options, origin, plot, table,
               virtual_training)
from .lab import isolation, settings
from .lab.lab import Lab
from .models import MODELS, Model, packaged_data

_RANKS = 4
_NOT_IN_PYTORCH = ("ring_chunked",)  # of the worker's; GLOO_ALGO has the others

_DESCRIPTION = """\
Trains a small model on local ranks, once with each allreduce algorithm and
seed, and shows the time that this takes, loss and accuracy.

The scripts, in benchmark/training, are plain PyTorch with backend="gloo" and
DistributedDataParallel; a preloaded library gives them the algorithm:
LD_PRELOAD=libgloo_ubt.so GLOO_ALGO=optireduce. It does the same for your own
scripts. GLOO_UBT_* variables (docs/configuration.md) are passed on.
"""

_EPILOG = """\
models
{models}

""" + algorithms.NAMES_HELP + algorithms.SETTINGS_HELP + """\
examples
  benchmark/train --model fashion --plot fashion.png
  benchmark/train --model bible --steps 300 --seeds 1,2,3 --json runs.json
  benchmark/train --model fashion --python venv/bin/python \\
      --algorithms gloo,ring,optireduce
  GLOO_UBT_FAULT=loss:0.01 benchmark/train --model fashion
  sudo benchmark/train --model fashion --lab p3
  benchmark/train --virtual --model fashion --gbit 25 --tail 3 --compute 20

exit code
  0 all has been trained; 1 something failed; 2 wrong arguments
"""


def _describe(model: Model) -> str:
    indented = model.about.replace("\n", "\n" + 14 * " ")
    return f"  {model.name:11} {indented}"


def _parser() -> argparse.ArgumentParser:
    parser = options.parser("train", _DESCRIPTION, _EPILOG.format(
        models="\n".join(map(_describe, MODELS.values()))))
    what = parser.add_argument_group("what to train")
    what.add_argument(
        "--model", type=one_of(tuple(MODELS)), required=True, metavar="NAME",
        help="one of those below")
    what.add_argument(
        "--algorithms", type=options.names, default=["ring", "optireduce"],
        metavar="A,B", help="in this order (default: ring,optireduce)")
    what.add_argument(
        "--epochs", type=positive(int), default=1, metavar="N",
        help="passes over the data (default: 1)")
    what.add_argument(
        "--steps", type=positive(int), metavar="N",
        help="end after this number, if the epochs have more")
    what.add_argument(
        "--evaluate-every", type=positive(int), metavar="STEPS",
        help="besides after each epoch (default: a fifth of all steps)")
    what.add_argument(
        "--seeds", metavar="N,M", default=(1,), type=list_of(
            between(0, (1 << 31) - 1, "a seed"), "seed"),
        help="train once with each, of weights and order (default: 1)")
    what.add_argument(
        "--data", metavar="PATH", help="fashion: a folder with MNIST's four "
        "files; others: a text (default: Debian's packages)")
    where = parser.add_argument_group("where")
    where.add_argument(
        "--ranks", type=positive(int), metavar="N",
        help="processes on this machine, of a thread each (default: "
        f"{_RANKS}), or hosts of a lab ({settings.Settings.hosts})")
    where.add_argument(
        "--python", default=job.DEBIANS, metavar="PATH",
        help=f"with PyTorch 1.13 or later (default: Debian's {job.DEBIANS})")
    options.add_results(
        parser.add_argument_group("results"),
        "write all runs with their curves, and where they come from",
        "draw loss and accuracy by step and by time")
    virtual_training.add_options(parser)
    settings.add_options(parser, "in a lab: hosts on this machine, made for "
                         "this", "--lab", "--lab-")
    parser.add_argument("--library", help=argparse.SUPPRESS)
    return parser


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Ends the process if an argument is wrong."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    arguments.in_lab = None if arguments.virtual else settings.settings(
        parser, arguments, "--lab-", arguments.ranks, "--ranks")
    arguments.ranks = arguments.ranks or (
        virtual_training.RANKS if arguments.virtual
        else arguments.in_lab.hosts if arguments.in_lab else _RANKS)
    virtual_training.check(parser, arguments)
    options.check_results(parser, arguments)
    if arguments.data is not None:
        if MODELS[arguments.model].data_is_folder:
            kind, exists = "folder", os.path.isdir(arguments.data)
        else:
            kind, exists = "file", os.path.isfile(arguments.data)
        if not exists:
            parser.error(f"--data: there is no {kind} '{arguments.data}', "
                         f"which --model {arguments.model} needs")
    return arguments


def package_lists(arguments: argparse.Namespace) -> list[str]:
    """The lists in third_party/, besides packages.txt, that are needed."""
    lists = [] if arguments.data else ["training_packages.txt"]
    if arguments.python == job.DEBIANS:
        lists.append("torch_packages.txt")
    return lists


def library(names: Sequence[str], given: str | None = None) -> str | None:
    """Builds the library, unless `given`, and returns its path. None: plain
    Gloo needs none."""
    if set(names) == {algorithms.PLAIN}:
        return None
    preload.check(given or bazel.output(bazel.LIBRARY), bazel.NO_PATH)
    return given or bazel.build(bazel.LIBRARY)


def check_algorithms(names: Sequence[str], ranks: int, binary: str | None = None
                     ) -> dict[str, dict[str, str]]:
    """The variables that mean the settings of each name. Raises UserError if a
    training cannot use one of these algorithms."""
    own = [name for name in names if name != algorithms.PLAIN]
    for name in own:
        if algorithms.base(name) in _NOT_IN_PYTORCH:
            raise UserError(
                f"--algorithms: {name} is not for trainings; GLOO_ALGO has "
                "ring", EXIT_USAGE)
    return algorithms.choose(binary or bazel.build(algorithms.WORKER), own,
                             ranks) if own else {}


def _command(arguments: argparse.Namespace, algorithm: str, data: str,
             seed: int, library_path: str | None) -> list[str]:
    script = (virtual_training.command(arguments, algorithm, seed,
                                       str(library_path))
              if arguments.virtual else MODELS[arguments.model].command())
    command = [arguments.python, *script,
               "--data", data, "--seed", str(seed),
               "--epochs", str(arguments.epochs)]
    if arguments.steps:
        command += ["--steps", str(arguments.steps)]
    if arguments.evaluate_every:
        command += ["--evaluate-every", str(arguments.evaluate_every)]
    lateness = arguments.in_lab and arguments.in_lab.lateness()
    if lateness:
        command += ["--late", f"{lateness.who},{lateness.share},"
                    f"{lateness.seconds}"]
    return command


def run_of(about: Mapping, lines: Iterable[Mapping]) -> dict:
    """Joins `about` with the lines of a log (benchmark/training/
    data_parallel.py), in the form of --json."""
    head, *points = lines
    losses = [point for point in points if "loss" in point]
    accuracies = [point for point in points if "accuracy" in point]
    last = losses[-1]
    return {
        **about, "parameters": head["parameters"], "steps": last["step"],
        "seconds": last["seconds"],
        "ms_per_step": 1000 * last["seconds"] / last["step"],
        "loss": last["loss"], "accuracy": accuracies[-1]["accuracy"],
        "divergence": points[-1]["divergence"],
        "losses": losses, "accuracies": accuracies}


def variables(algorithm: str, settings_of: Mapping[str, Mapping[str, str]],
              binary: str | None) -> dict[str, str]:
    """Environment variables that make any script with backend="gloo" use the
    algorithm of the library `binary`. `settings_of`: of check_algorithms()."""
    if algorithm == algorithms.PLAIN:
        return {}
    assert binary is not None
    return {**preload.variables(binary, algorithms.base(algorithm),
                                os.environ.get("LD_PRELOAD", "")),
            **settings_of[algorithm]}


def _train_one(arguments: argparse.Namespace, algorithm: str,
               command: list[str], own: dict[str, str], lab: Lab | None,
               progress: job.Progress) -> tuple[list[dict], float | None]:
    """Returns the lines of the log, and the share that was lost. `own`: the
    algorithm's variables."""
    own = dict(own)
    if lab:
        own |= lab.variables({**os.environ, **own})
    lines = []
    with job.reports() as reports:
        if arguments.virtual or not algorithms.is_bounded(algorithm):
            reports = ""
        else:
            own[job.REPORT] = reports
        with job.Job(command, 1 if arguments.virtual else arguments.ranks, own,
                     lab and lab.hosts) as ranks:
            for line in ranks.lines():
                lines.append(line)
                progress.take(line)
            for said in ranks.said():
                # The library's own lines begin with its algorithm's name.
                head = f"{algorithms.base(algorithm)}: "
                print(f"{algorithm}: {said.removeprefix(head)}",
                      file=sys.stderr)
        if arguments.virtual:
            return lines, (lines[-1]["missing"]
                           if algorithms.is_bounded(algorithm) else None)
        return lines, (job.lost_share(reports, arguments.ranks)
                       if reports else None)


def _train(arguments: argparse.Namespace, torch: str,
           variables_of: Mapping[str, dict[str, str]], data: str,
           lab: Lab | None, binary: str | None, done: list[dict]) -> None:
    """Appends each run as it ends. `binary`: the library."""
    # Algorithms alternate, so that noise affects all of them equally.
    wanted = [(algorithm, seed) for seed in arguments.seeds
              for algorithm in arguments.algorithms]
    with job.Progress(len(wanted)) as progress:
        for number, (algorithm, seed) in enumerate(wanted):
            seeds = f", seed {seed}" if len(arguments.seeds) > 1 else ""
            progress.begin(number, algorithm + seeds)
            lines, lost = _train_one(
                arguments, algorithm,
                _command(arguments, algorithm, data, seed, binary),
                variables_of[algorithm], lab, progress)
            about = {"model": arguments.model, "algorithm": algorithm,
                     "seed": seed, "ranks": arguments.ranks, "torch": torch,
                     "lost": lost}
            if lab:
                lab.traffic.check()
                about |= arguments.in_lab.about()
            done.append(run_of(about, lines))


# The first column is a word, the others numbers.
_COLUMNS: tuple[table.Column, ...] = (
    ("algorithm", lambda run: run["algorithm"]),
    ("seed", lambda run: str(run["seed"])),
    ("steps", lambda run: str(run["steps"])),
    ("seconds", lambda run: f"{run['seconds']:.1f}"),
    ("ms a step", lambda run: three_digits(run["ms_per_step"])),
    ("loss", lambda run: f"{run['loss']:.3f}"),
    ("accuracy", lambda run: f"{100 * run['accuracy']:.2f} %"),
    ("missing", lambda run: "" if run["lost"] is None
     else table.per_cent(run["lost"])),
    ("divergence", lambda run: f"{run['divergence']:.1e}"
     if run["divergence"] else "0"),
)


def render(runs: Sequence[Mapping]) -> str:
    """The table, one line for each run."""
    return table.render(_COLUMNS, runs, words=1)


def _panel(runs: Sequence[Mapping], curve: str, value: str, ordinate: str,
           against: str, abscissa: str) -> plot.Paint:
    """The seeds of an algorithm are one line each, of one colour."""
    def paint(axis: object) -> None:
        for seed in dict.fromkeys(run["seed"] for run in runs):
            plot.curves(
                {run["algorithm"]: [(point[against], point[value])
                                    for point in run[curve]]
                 for run in runs if run["seed"] == seed},
                abscissa, ordinate)(axis)
    return paint


def _show(arguments: argparse.Namespace, torch: str, run: origin.Origin,
          done: Sequence[dict]) -> None:
    title = (f"{MODELS[arguments.model].title}, {arguments.ranks} ranks, "
             f"PyTorch {torch}")
    print(f"{title}\n\n{render(done)}", end="", flush=True)
    if arguments.in_lab:
        print(f"\n{arguments.in_lab}", flush=True)
    try:
        if arguments.json:
            table.write_rows(arguments.json, run, done)
    finally:
        if arguments.plot:
            with findings.writing("--plot", arguments.plot) as place:
                _draw(place, done, title)


def _draw(path: str, done: Sequence[dict], title: str) -> None:
    plot.draw(path, [
        ("", _panel(done, curve, value, ordinate, against, abscissa))
        for curve, value, ordinate in (
            ("losses", "loss", "training loss"),
            ("accuracies", "accuracy", "accuracy on held-out data"))
        for against, abscissa in (("step", "steps"),
                                  ("seconds", "seconds of training"))],
        title, columns=2)


def _main(argv: Sequence[str]) -> int:
    arguments = parse(argv)
    if arguments.only_check:
        if arguments.python != job.DEBIANS:
            job.torch_version(arguments.python)
        return options.checked(*package_lists(arguments))
    torch = job.torch_version(arguments.python)
    # Outside the lab: the build leaves a Bazel server running for the next
    # one.
    if arguments.virtual:
        virtual_training.check_algorithms(arguments)
        binary = arguments.library or bazel.build(virtual_training.LIBRARY)
        variables_of = {name: {} for name in arguments.algorithms}
    else:
        settings_of = check_algorithms(arguments.algorithms, arguments.ranks,
                                       arguments.binary)
        binary = library(arguments.algorithms, arguments.library)
        variables_of = {name: variables(name, settings_of, binary)
                        for name in arguments.algorithms}

    def run() -> int:
        done: list[dict] = []
        began = origin.origin()
        print(began.heading([arguments.ranks]), flush=True)
        wanted = len(arguments.algorithms) * len(arguments.seeds)
        with findings.shown(
                done, wanted, "runs",
                lambda: _show(arguments, torch, began, done)
        ), contextlib.ExitStack() as stack:
            folder = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="train-"))
            data = arguments.data or packaged_data(
                MODELS[arguments.model], folder)
            lab = (stack.enter_context(Lab(arguments.in_lab))
                   if arguments.in_lab else None)
            _train(arguments, torch, variables_of, os.path.abspath(data), lab,
                   binary, done)
        return 0

    return isolation.run(run) if arguments.in_lab else run()


def main(argv: Sequence[str]) -> int:
    """Returns the exit code."""
    return run_command(_main, argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
