# SPDX-License-Identifier: Apache-2.0
"""Builds the library, times the steps and shows the times."""
import argparse
import contextlib
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence

from front_end import preload
from front_end.columns import align, three_digits
from front_end.commands import run_command
from front_end.progress import Bar
from train_lib import pytorch

from . import arguments as command_line
from .variant import Variant

_WARMUP_STEPS = 30  # the first 20 allreduces of a size teach the bound

Times = Mapping[str, Sequence[Sequence[float]]]  # by variant and turn


def _time(arguments: argparse.Namespace, library: str) -> Times:
    times: dict[str, list[list[float]]] = {
        name: [] for name in arguments.variants}
    with tempfile.TemporaryDirectory(prefix="steps-") as folder, \
            contextlib.ExitStack() as stack:
        variants = []
        for name in arguments.variants:
            own = os.path.join(folder, name)
            os.mkdir(own)
            variants.append(stack.enter_context(
                Variant(name, arguments, library, own)))
        for variant in variants:
            variant.turn(_WARMUP_STEPS)
        with Bar() as bar:
            for turn in range(arguments.turns):
                bar.show("steps", completed=turn, total=arguments.turns)
                for variant in variants:
                    times[variant.name].append(variant.turn(arguments.steps))
    return times


def _row(name: str, times: Times, first: str) -> list[str]:
    steps = sorted(step for turn in times[name] for step in turn)
    ratios = [statistics.median(mine) / statistics.median(others)
              for mine, others in zip(times[name], times[first])]
    low, middle, high = (statistics.quantiles(ratios, n=4)
                         if len(ratios) > 1 else ratios * 3)
    return [name, str(len(steps)), three_digits(statistics.median(steps)),
            three_digits(steps[int(0.9 * (len(steps) - 1))]),
            three_digits(statistics.fmean(steps)),
            f"{middle:.3f} ({low:.3f} to {high:.3f})"]


def _show(times: Times) -> None:
    first = next(iter(times))
    rows = [["variant", "steps", "ms p50", "p90", "mean", f"p50 to {first}'s"]]
    rows += [_row(name, times, first) for name in times]
    print("\n".join(align(rows, 1)))


def _run(argv: Sequence[str]) -> int:
    arguments = command_line.parse(argv)
    if arguments.only_check:
        wanted = ["packages.txt"]
        if arguments.python == pytorch.DEBIANS:
            wanted.append("torch_packages.txt")
        else:
            pytorch.version(arguments.python)
        print("\n".join(wanted))
        return 0
    torch = pytorch.version(arguments.python)
    times = _time(arguments, preload.built(arguments.library))
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"torch": torch, "ranks": arguments.ranks,
                       "ms": times}, file, indent=1)
            file.write("\n")
    print(f"PyTorch {torch}, {arguments.ranks} ranks, 26 MB of gradients\n")
    _show(times)
    return 0


def main(argv: Sequence[str]) -> int:
    return run_command(_run, argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
