# SPDX-License-Identifier: Apache-2.0
"""benchmark/simulate: runs //benchmark:measure, for any number of ranks."""
import argparse
import dataclasses
import os
import statistics
import sys
from collections.abc import Mapping, Sequence

from front_end import bazel
from front_end.columns import three_digits
from front_end.commands import run_command
from front_end.errors import EXIT_FAILED
from front_end.options import between, list_of, positive

from . import (algorithms, findings, options, origin, simulated_network,
               table)
from .simulator import WARMUP_OPS, Simulator, text_of

_RANKS_MAX = 4096
_BOUND_US_MAX = 10**9
_ELEMENTS_MAX = 1 << 30
_DEFAULT = ("ring", "tree", "transpose", "optireduce:none")

_DESCRIPTION = """\
Allreduces of any number of ranks, in virtual time on one simulated switch.
optireduce is the protocol itself. The others are messages over ideal
connections, which lose and repeat nothing and share their host's link evenly.
With --also tcp=1 they use TCP. Their ranks begin an op once all have finished
the one before. Computing takes no time, and data is summed only with --errors.
"""

_EPILOG = """\
algorithms
  ring                    each shard at once, as NCCL's
  ring_chunked, halving_doubling, bcube
                          Gloo's
  tree                    two binary trees, in chunks of 32 KiB
  transpose               exact: each shard goes to its owner, and back
  optireduce              the same, bounded in time
  hierarchical_transpose, hierarchical_optireduce
                          the same in --groups

""" + algorithms.SETTINGS_HELP + """\
examples
  benchmark/simulate --ranks 8,64 --algorithms ring,tree,optireduce:none
  benchmark/simulate --ranks 256 --gbit 100 --tail 3 --json rows.json
  benchmark/simulate --ranks 8 --lab p3 --algorithms ring,optireduce:none
  benchmark/simulate --ranks 8 --lab lossy:0.05 --errors --seeds 4 \\
      --algorithms optireduce,optireduce+hadamard=off

exit code
  0 all was simulated; 1 some job failed, which is named; 2 wrong arguments
"""


def _parser() -> argparse.ArgumentParser:
    parser = options.parser("simulate", _DESCRIPTION, _EPILOG)
    what = parser.add_argument_group("what")
    what.add_argument(
        "--algorithms", type=options.names, default=list(_DEFAULT),
        metavar="A,B", help=f"default: {','.join(_DEFAULT)}")
    what.add_argument(
        "--ranks", type=list_of(between(2, _RANKS_MAX, "a number"), "number"),
        default=(8, 32),
        metavar="N,M", help="default: 8,32")
    what.add_argument(
        "--groups", type=positive(int), default=4, metavar="N",
        help="of hierarchical algorithms (default: 4)")
    what.add_argument(
        "--elements", type=between(1, _ELEMENTS_MAX, "a number"),
        default=1000000, metavar="N",
        help="floats in an allreduce (default: 1000000)")
    what.add_argument(
        "--ops", type=positive(int), default=20, metavar="N",
        help="allreduces of each seed (default: 20)")
    what.add_argument(
        "--warmup", type=positive(int), default=WARMUP_OPS, metavar="N",
        help="ops before those, of optireduce, which learn its times "
        f"(default: {WARMUP_OPS})")
    what.add_argument(
        "--bound", type=between(1, _BOUND_US_MAX, "a bound"), metavar="US",
        help="of each stage of optireduce, set by hand, in microseconds "
        "(default: learned). Ops of the warm-up stay exact")
    what.add_argument(
        "--seeds", type=positive(int), default=1, metavar="N",
        help="how many seeds (default: 1)")
    what.add_argument(
        "--first-seed", type=positive(int), default=1, metavar="S",
        help="the first of them; the others follow it (default: 1)")
    what.add_argument(
        "--errors", action="store_true",
        help="sum data, too, and show the errors of sums; not for many ranks "
        "or elements, whose data would not fit in memory")
    network = parser.add_argument_group("on which network")
    simulated_network.add_lab(network)
    simulated_network.add_options(network)
    parser.add_argument(
        "--processes", type=positive(int), metavar="N",
        help="processes at a time (default: one for each CPU)")
    parser.add_argument(
        "--trace", metavar="FOLDER",
        help="record there when contributions arrive, as GLOO_UBT_TRACE does; "
        "for one algorithm, number of ranks, tail and seed")
    options.add_results(parser, "write all rows, and where they come from; "
                        "each has its figures for each seed, too")
    return parser


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Ends the process if an argument is wrong."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    simulated_network.complete(parser, arguments, min(arguments.ranks))
    options.check_results(parser, arguments)
    if arguments.trace:
        if len(_jobs(arguments)) > 1:
            parser.error("--trace: more than one job; name one algorithm, one "
                         "number of ranks, one tail and one seed")
        if not os.path.isdir(arguments.trace):
            parser.error(f"--trace: no folder {arguments.trace}; make it")
    arguments.processes = arguments.processes or os.cpu_count() or 1
    return arguments


@dataclasses.dataclass(frozen=True)
class _Job:
    algorithm: str
    ranks: int
    tail: float | None  # of paths; None: the lab's
    options: Mapping[str, object]  # of transport_ubt/sim/sim_options.h
    trace: str | None  # a folder

    @property
    def command(self) -> list[str]:
        """The arguments of the simulator."""
        return ["--algorithms", self.algorithm, "--options",
                text_of(self.options),
                *(("--trace", self.trace) if self.trace else ())]


def _jobs(arguments: argparse.Namespace) -> list[_Job]:
    return [_Job(algorithm, ranks, tail,
                 _options(arguments, algorithm, ranks, tail, seed),
                 arguments.trace)
            for ranks in arguments.ranks
            for tail in arguments.tail or (None,)
            for algorithm in arguments.algorithms
            for seed in range(arguments.first_seed,
                              arguments.first_seed + arguments.seeds)]


def _options(arguments: argparse.Namespace, algorithm: str, ranks: int,
             tail: float | None, seed: int) -> dict[str, object]:
    bounded = algorithms.is_bounded(algorithm)
    ops = arguments.ops + (arguments.warmup if bounded else 0)
    own: dict[str, object] = {
        "seed": seed, "ranks": ranks, "one_shape": 1, "ops": ops,
        "elements_max": arguments.elements,
        "no_data": int(not (arguments.errors and bounded)),
        "warmup_ops": arguments.warmup, "timeout_ns": 60 * 10**9}
    own |= simulated_network.options_of(arguments, tail, seed, ranks)
    if algorithms.base(algorithm).startswith("hierarchical_"):
        own["groups"] = arguments.groups
    if bounded and arguments.bound:
        own |= {f"bound_{stage}_ns": arguments.bound * 1000
                for stage in ("scatter", "broadcast")}
    return own | arguments.also


def _times(ops: Sequence[float], steps: Sequence[float]) -> dict:
    """Figures of these times, in ms."""
    return {"iterations": len(ops), "p50_ms": table.percentile(ops, 0.5),
            "p99_ms": table.percentile(ops, 0.99),
            "mean_ms": statistics.mean(ops) if ops else None,
            "slow_tenth_ms": table.mean_of_slowest(ops, .1),
            "step_mean_ms": statistics.mean(steps) if steps else None,
            "step_slow_tenth_ms": table.mean_of_slowest(steps, .1)}


def _losses(arguments: argparse.Namespace) -> Sequence[str]:
    """The figures of loss in a report."""
    errors = ("mse", "worst_se", "drift_fraction") if arguments.errors else ()
    return ("loss_fraction", "cut_fraction", *errors)


def _of_seed(job: _Job, report: Mapping, losses: Sequence[str]) -> dict:
    """A seed's own figures."""
    return {"seed": job.options["seed"],
            **_times(report["op_ms"], report["step_ms"]),
            "failed": next(iter([*report["errors"], *report["violations"]]),
                           None),
            **{name: report.get(name, 0) for name in losses}}


def row_of(own: Sequence[_Job], reports: Sequence[Mapping],
           arguments: argparse.Namespace) -> dict:
    """The row for all seeds of one job."""
    first = own[0]
    times = [ms for report in reports for ms in report["op_ms"]]
    steps = [ms for report in reports for ms in report["step_ms"]]
    losses = _losses(arguments)
    seeds = [_of_seed(job, report, losses)
             for job, report in zip(own, reports)]
    broken = [
        f"the simulated protocol breaks a promise of docs/semantics.md: "
        f"{report['violations'][0]}. See it again with bazel run "
        f"//benchmark:measure -- --algorithms {job.algorithm} --options "
        f"'{text_of(job.options)}'"
        for job, report in zip(own, reports) if report["violations"]]
    failed = [seed["failed"] for seed in seeds if seed["failed"]]
    return {
        "algorithm": first.algorithm, "ranks": first.ranks,
        "elements": arguments.elements, "groups": arguments.groups,
        "lab": arguments.lab and arguments.lab.name, "gbit": arguments.gbit,
        "latency_us": arguments.latency, "tail": first.tail,
        "every_ms": arguments.every, "window_bytes": arguments.window,
        "looks_us": arguments.looks, "also": arguments.also,
        "bound_us": arguments.bound if algorithms.is_bounded(first.algorithm)
        else None,
        "seeds": len(own), **_times(times, steps),
        "percentiles_ms": table.percentiles(times),
        "cpu_seconds": sum(report["cpu_seconds"] for report in reports),
        "peak_bytes": max(report["peak_bytes"] for report in reports),
        "failed": next(iter([*broken, *failed]), None), "by_seed": seeds,
        **{name: statistics.fmean(seed[name] for seed in seeds)
           for name in losses}}


_COLUMNS: tuple[table.Column, ...] = (
    ("algorithm", lambda row: row["algorithm"]),
    ("ranks", lambda row: str(row["ranks"])),
    ("tail", lambda row: row["lab"] or f"{row['tail']:g}"),
    ("n", lambda row: str(row["iterations"])),
    ("p50 ms", lambda row: three_digits(row["p50_ms"])),
    ("p99 ms", lambda row: three_digits(
        row["p99_ms"] if row["iterations"] >= table.P99_FROM else None)),
    ("slow tenth ms", lambda row: three_digits(row["slow_tenth_ms"])),
    ("step ms", lambda row: three_digits(row["step_mean_ms"])),
    ("slow step ms", lambda row: three_digits(row["step_slow_tenth_ms"])),
    ("missing", lambda row: table.fraction(row["loss_fraction"])),
)
_ERROR_COLUMNS: tuple[table.Column, ...] = (
    ("mse", lambda row: table.fraction(row["mse"])),
    ("worst", lambda row: table.number(row["worst_se"])),
    ("drift", lambda row: table.fraction(row["drift_fraction"])),
)


def _rows(jobs: Sequence[_Job], reports: Mapping[int, dict],
          arguments: argparse.Namespace) -> list[dict]:
    """The rows of the seeds that have a report, by the number of a job. `jobs`
    begins with the last row's."""
    rows = []
    for first in range(0, len(jobs), arguments.seeds):
        own = [number for number in range(first, first + arguments.seeds)[::-1]
               if number in reports]
        if own:
            rows.append(row_of([jobs[number] for number in own],
                               [reports[number] for number in own], arguments))
    return rows[::-1]


def _show(arguments: argparse.Namespace, run: origin.Origin,
          rows: Sequence[Mapping]) -> None:
    print(table.render(
        _COLUMNS + (_ERROR_COLUMNS if arguments.errors else ()), rows,
        words=1), end="", flush=True)
    for row in rows:
        if row["failed"]:
            print(f"error: {row['algorithm']} with {row['ranks']} ranks: "
                  f"{row['failed']}", file=sys.stderr)
    if arguments.json:
        table.write_rows(arguments.json, run, rows)


def _main(argv: Sequence[str]) -> int:
    arguments = parse(argv)
    if arguments.only_check:
        return options.checked()
    binary = arguments.binary or bazel.build(algorithms.SIMULATOR)
    for ranks in arguments.ranks:
        algorithms.choose(binary, arguments.algorithms, ranks, "--groups",
                          str(arguments.groups), "--options",
                          text_of(arguments.also))
    run = origin.origin()
    print(run.heading(arguments.ranks), flush=True)
    # The last jobs of the list usually take longest. They start first, so that
    # no processor is idle at the end.
    jobs = _jobs(arguments)[::-1]
    reports: dict[int, dict] = {}
    rows: list[dict] = []

    def show() -> None:
        rows.extend(_rows(jobs, reports, arguments))
        _show(arguments, run, rows)

    with findings.shown(reports, len(jobs), "runs", show), Simulator(
            binary, arguments.processes) as simulator:
        simulator.run([job.command for job in jobs], reports)
    return EXIT_FAILED if any(row["failed"] for row in rows) else 0


def main(argv: Sequence[str]) -> int:
    """Returns the exit code."""
    return run_command(_main, argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
