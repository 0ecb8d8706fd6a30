# SPDX-License-Identifier: Apache-2.0
"""benchmark/compare: starts the workers, which measure, and shows results."""
import argparse
import contextlib
import os
import sys
import urllib.parse
from collections.abc import Mapping, Sequence

from front_end import bazel, environment, interface
from front_end.columns import three_digits
from front_end.commands import run_command
from front_end.errors import UserError
from front_end.options import between, list_of, positive, size_in_bytes
from front_end.progress import Bar

from . import algorithms, findings, options, origin, plot, second_job, table
from .job import Job
from .lab import accounts, isolation, settings
from .lab.accounts import Accounts
from .lab.environments import ANY, EACH
from .lab.lab import Lab
from .lab.network import INTERFACE
from .private_redis import private_redis

Results = list[tuple[dict, list[float] | None]]  # rows, samples in us

_ELEMENTS = (65536, 1048576, 6553600)
_LAB_ELEMENTS = 1000000
_ELEMENTS_MAX = 1 << 29
_LAB_TURN_S = 1.0  # an iteration takes a tenth of this
_SHARED_TURN_S = 4.0  # two jobs need time to share the links
_JOIN_S = 600.0  # other hosts may have to build first
_EXIT_UNSOUND = 3  # a row is wrong or not as named; as the worker's

_DESCRIPTION = """\
Compares allreduce algorithms (sums of floats) side by side, in one run:
one iteration of each in turn, so that noise meets all of them alike.

Without --redis-url, everything happens on this machine: a private Redis and
--ranks processes are started, and ended again.
"""

_EPILOG = algorithms.NAMES_HELP + algorithms.SETTINGS_HELP + """\
examples
  benchmark/compare
  benchmark/compare --ranks 8 --elements 65536 --seconds 10 --plot cdf.png
  benchmark/compare --algorithms ring_chunked,transpose --json rows.json
  benchmark/compare --algorithms optireduce,optireduce+gso=off

  in a network of this machine's own, with competing traffic (docs/lab.md):
  sudo benchmark/compare --lab p3 --algorithms ring_chunked,optireduce

  on several hosts; srun, mpirun or torchrun gives each process its rank:
  srun benchmark/compare --redis-url redis://head-node:6379 --interface eth0
  torchrun --no-python ... benchmark/compare --redis-url redis://head-node:6379
  or by hand, once on each host:
  benchmark/compare --rank 0 --size 2 --redis-url redis://head-node:6379

exit code
  0 all rows sound; 1 something failed; 2 wrong arguments; 3 a result was wrong
  or a bounded algorithm never took its bounded path
"""


def _redis_url(text: str) -> str:
    if not text.startswith(("redis://", "unix://")):
        raise argparse.ArgumentTypeError(
            f"'{text}' is no address of a Redis; write redis://host:port or "
            "unix:///path")
    return text


def _parser() -> argparse.ArgumentParser:
    parser = options.parser("compare", _DESCRIPTION, _EPILOG)
    what = parser.add_argument_group("what to compare")
    what.add_argument(
        "--algorithms", type=options.names, metavar="A,B", default=[],
        help="in this order (default: ring, ring_chunked, halving_doubling, "
        "bcube, transpose, optireduce)")
    what.add_argument(
        "--elements", metavar="N,M", type=list_of(
            between(1, _ELEMENTS_MAX, "a number of floats"), "size"),
        help="sizes, in floats (default: " + ",".join(map(str, _ELEMENTS))
        + f"; in a lab {_LAB_ELEMENTS})")
    what.add_argument(
        "-b", "--begin", type=size_in_bytes, metavar="BYTES",
        help="the first size in bytes, such as 4K or 128M, in place of "
        "--elements")
    what.add_argument(
        "-e", "--end", type=size_in_bytes, metavar="BYTES",
        help="the largest size in bytes")
    what.add_argument(
        "-f", "--factor", type=positive(int), metavar="F",
        help="each size is F times the one before (default: 2)")
    what.add_argument(
        "--seconds", type=positive(float), metavar="S",
        help="per algorithm and size (default: 5; in a lab 20)")
    results = parser.add_argument_group(
        "results (with --rank: of rank 0 alone)")
    results.add_argument(
        "--wide", action="store_true",
        help="show all columns, not only those that fit 100 characters")
    options.add_results(
        results,
        "write all rows, and where they come from. A row has its percentiles 0 "
        "to 100. Its peak memory is that of the largest process so far, "
        "whatever it ran",
        "draw the share of iterations that take longer than a time")
    where = parser.add_argument_group("where")
    where.add_argument(
        "--ranks", type=positive(int), metavar="N",
        help="processes on this machine (default: 4), or hosts of a lab (8)")
    where.add_argument(
        "--interface", metavar="NAME", help="network interface, by name, "
        "address or network (10.0.0.0/8). After a ^: those to avoid. Default: "
        "lo. On several hosts: that of the host's name. If the name means "
        "loopback: that of the default route")
    where.add_argument(
        "--rank", type=int, metavar="R",
        help="be this one of --size processes, started elsewhere (default: "
        "torchrun, srun or mpirun says both)")
    where.add_argument("--size", type=positive(int), metavar="N")
    where.add_argument(
        "--redis-url", type=_redis_url, metavar="URL",
        help="where they meet: redis://[user:password@]host[:port][/db] or "
        "unix:///path")
    where.add_argument(
        "--prefix", default="compare", metavar="NAME",
        help="tells comparisons apart that meet at one Redis")
    where.add_argument(
        "--join-timeout", type=positive(float), metavar="S",
        help="how long this process, once it has built, waits for those on "
        "other hosts (default: 600, because they may still build)")
    lab = settings.add_options(parser, "in a lab: hosts on this machine, made "
                               "for this", "--lab", "--lab-")
    lab.add_argument(
        "--lab-second", metavar="A", type=options.name,
        help="algorithm of a second job, which runs it on the same hosts all "
        "the time, with the first size (default: there is none)")
    return parser


def _elements(parser: argparse.ArgumentParser,
              arguments: argparse.Namespace) -> tuple[int, ...]:
    """The sizes in floats: those of --elements, those from --begin to --end,
    or the default."""
    begin, end, factor = arguments.begin, arguments.end, arguments.factor or 2
    if begin is end is arguments.factor is None:
        return arguments.elements or (
            (_LAB_ELEMENTS,) if arguments.in_lab else _ELEMENTS)
    if arguments.elements:
        parser.error("--elements and --begin both say sizes; leave out one")
    if begin is None or end is None:
        parser.error("--begin and --end go together; or name sizes in floats "
                     "with --elements")
    if begin % 4:
        parser.error(f"--begin {begin}: a float has 4 bytes; take a multiple")
    if not begin <= end <= 4 * _ELEMENTS_MAX:
        parser.error(f"--begin {begin}, --end {end}: sizes have to be at "
                     f"most {4 * _ELEMENTS_MAX} bytes, the first no larger "
                     "than the last")
    if factor == 1 and begin < end:
        parser.error("--factor 1: the sizes would never grow; take 2")
    sizes = [begin // 4]
    while factor != 1 and 4 * sizes[-1] * factor <= end:
        sizes.append(sizes[-1] * factor)
    return tuple(sizes)


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Ends the process if an argument is wrong."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    single = {"--rank": arguments.rank, "--size": arguments.size,
              "--redis-url": arguments.redis_url}
    missing = [name for name, value in single.items() if value is None]
    if missing == ["--rank", "--size"]:
        try:
            arguments.rank, arguments.size = environment.place(os.environ)
        except UserError as error:
            parser.error(f"--redis-url: {error}")
        missing = []
    if missing and len(missing) < len(single):
        parser.error(f"{', '.join(missing)}: missing; --rank, --size and "
                     "--redis-url go together")
    arguments.local = bool(missing)
    arguments.shows = arguments.local or arguments.rank == 0
    if arguments.local and arguments.join_timeout is not None:
        parser.error("--join-timeout is for several hosts, with --redis-url")
    if not arguments.local:
        if arguments.ranks is not None:
            parser.error("--ranks is for one machine; with --rank, --size "
                         "says how many there are")
        if not 0 <= arguments.rank < arguments.size:
            parser.error(f"--rank {arguments.rank}: has to be from 0 to "
                         f"{arguments.size - 1} with --size {arguments.size}")
    arguments.in_lab = settings.settings(
        parser, arguments, "--lab-", arguments.ranks, "--ranks")
    if arguments.in_lab is not None:
        if not arguments.local:
            parser.error("--lab makes its own hosts on this machine; leave out "
                         "--rank, --size and --redis-url")
        if arguments.interface is not None:
            parser.error("--lab gives its hosts their interface; leave out "
                         "--interface")
        arguments.ranks = arguments.in_lab.hosts
    arguments.ranks = arguments.size or arguments.ranks or 4
    arguments.elements = _elements(parser, arguments)
    arguments.seconds = arguments.seconds or (20.0 if arguments.in_lab else 5.0)
    if arguments.shows:
        options.check_results(parser, arguments)
    if arguments.in_lab:
        arguments.interface = INTERFACE
    else:
        try:
            arguments.interface = _interface(arguments)
        except UserError as error:
            parser.error(str(error))
    return arguments


def _interface(arguments: argparse.Namespace) -> str | None:
    """The name of the interface; None: that of the host's name. Raises
    UserError."""
    if arguments.interface is None:
        if arguments.local:
            return "lo"
        where = urllib.parse.urlsplit(arguments.redis_url)
        if where.scheme == "unix" or environment.is_this_host(
                where.hostname or ""):
            return None  # all ranks are here
        return interface.for_other_hosts()
    name = interface.named(arguments.interface)
    if "," in name:
        raise UserError(f"--interface {arguments.interface}: name one")
    return name


def late_options(lab: settings.Settings) -> list[str]:
    """The worker's options that make a rank of the lab late."""
    lateness = lab.lateness()
    if not lateness:
        return []
    return ["--late", str(lateness.who), "--late-share", str(lateness.share),
            "--late-seconds", str(lateness.seconds), "--late-seed",
            str(lab.seed)]


def _worker_options(arguments: argparse.Namespace, names: Sequence[str],
                    redis_url: str) -> list[str]:
    own = ["--size", str(arguments.ranks),
           "--redis-url", redis_url, "--prefix", arguments.prefix,
           "--algorithms", ",".join(names),
           "--elements", ",".join(map(str, arguments.elements)),
           "--seconds", str(arguments.seconds)]
    if not arguments.local:  # else from the environment
        own += ["--rank", str(arguments.rank), "--join-timeout",
                str(arguments.join_timeout or _JOIN_S)]
    if arguments.interface:
        own += ["--interface", arguments.interface]
    if arguments.plot or arguments.json:
        own.append("--samples")
    if arguments.in_lab:
        turn_s = _SHARED_TURN_S if arguments.lab_second else _LAB_TURN_S
        own += ["--turn-seconds", str(turn_s),
                *late_options(arguments.in_lab)]
    return own


def _second_jobs_options(arguments: argparse.Namespace,
                         redis_url: str) -> list[str]:
    own = argparse.Namespace(**{
        **vars(arguments), "prefix": f"{arguments.prefix}-second",
        "elements": arguments.elements[:1], "in_lab": None, "json": None,
        "plot": None})
    return [*_worker_options(own, (arguments.lab_second,), redis_url),
            "--forever"]


def _collect(job: Job, sizes: Sequence[int], per_size: int,
             counts: Accounts | None, results: Results) -> None:
    """Shows the workers' progress until they have ended. Appends results as
    they come."""
    with Bar() as bar:
        bar.show("connecting")
        for event in job.lines():
            if event["event"] == "connected":
                bar.show("warming up")
            elif event["event"] == "progress":
                total = event["total_s"]
                done = (total * (len(results) // per_size)
                        + min(event["elapsed_s"], total))
                bar.show(f"{table.human_bytes(4 * event['elements'])}, "
                         f"{event['rounds']} rounds",
                         total=total * len(sizes), completed=done)
            elif event["event"] == "turn":
                assert counts is not None
                counts.take(event)
                job.go_on()
            elif event["event"] == "row":
                row = event["row"]
                if counts:
                    row |= counts.close(row["algorithm"])
                results.append((row, event.get("samples_us")))


def _second_job(arguments: argparse.Namespace, binary: str, lab: Lab,
                redis_url: str, stack: contextlib.ExitStack
                ) -> second_job.SecondJob:
    """Starts it, and waits until it has warmed up. `stack` ends it."""
    job = stack.enter_context(Job(
        [binary, *_second_jobs_options(arguments, redis_url)],
        arguments.ranks, lab.variables(os.environ), lab.hosts))
    found = second_job.SecondJob(job, arguments.ranks,
                                 4 * arguments.elements[0])
    found.warm_up()
    return found


def _run(arguments: argparse.Namespace, binary: str, names: Sequence[str],
         results: Results) -> int:
    """Appends results, none unless rank 0. Returns the exit code."""
    with contextlib.ExitStack() as stack:
        redis_url = (stack.enter_context(private_redis()) if arguments.local
                     else arguments.redis_url)
        lab = counts = None
        if arguments.in_lab:
            lab = stack.enter_context(Lab(arguments.in_lab))
            second = arguments.lab_second and _second_job(
                arguments, binary, lab, redis_url, stack).since_last_call
            counts = Accounts(lab, second)
        count = arguments.ranks if arguments.local else 1
        job = stack.enter_context(Job(
            [binary, *_worker_options(arguments, names, redis_url)], count,
            lab.variables(os.environ) if lab else {}, lab and lab.hosts,
            (0, _EXIT_UNSOUND), turns=lab is not None))
        _collect(job, arguments.elements, len(names), counts, results)
        for line in job.said(range(count)):
            print(line, file=sys.stderr)
        return job.exit_code()


def verdict(row: Mapping) -> str:
    """Whether the results are right and, if they should be, bounded."""
    if not row["verified"]:
        return "WRONG"
    never_bounded = row["transport"] == "ubt" and row["bounded_ops"] == 0
    return "not bounded" if never_bounded else "yes"


_WHY = {"not bounded": " (smaller than GLOO_UBT_MIN_BYTES, or warm-up took "
                       "all of --seconds)"}


_LEAST = {"p90_us": 10, "p99_us": table.P99_FROM}  # iterations


def _milliseconds(key: str) -> table.Column:
    heading = {"p999_us": "p99.9", "slow_tenth_us": "slow tenth",
               "step_mean_us": "step",
               "step_slow_tenth_us": "slow step"}.get(
        key, key.removesuffix("_us"))
    return f"{heading} ms", lambda row: three_digits(
        None if row[key] is None or row["iterations"] < _LEAST.get(key, 0)
        else row[key] / 1000)


def _of_bounded(key: str) -> table.Column:
    return key.removesuffix("_ops"), lambda row: (
        str(row[key]) if row["transport"] == "ubt" else "")


# The first two columns are words, the others numbers.
_COLUMNS: tuple[table.Column, ...] = (
    ("algorithm", lambda row: row["algorithm"]),
    ("transport", lambda row: row["transport"]),
    ("bytes", lambda row: table.human_bytes(row["bytes"])),
    ("n", lambda row: str(row["iterations"])),
    *map(_milliseconds, ("p50_us", "p90_us", "p99_us", "p999_us")),
    ("algbw GB/s", lambda row: three_digits(row["algbw_bytes_per_s"] / 1e9)),
    ("busbw GB/s", lambda row: three_digits(row["busbw_bytes_per_s"] / 1e9)),
    ("CPU s/GB", lambda row: three_digits(row["cpu_s_per_gb"])),
    ("missing", lambda row: table.fraction(row["loss_fraction"])),
    ("verified", verdict),
)
_BOUNDED_COLUMNS = (_milliseconds("bound_us"), _of_bounded("bounded_ops"),
                    _of_bounded("expired_ops"))
_LAB_COLUMNS: tuple[table.Column, ...] = (
    *map(_milliseconds,
         ("slow_tenth_us", "step_mean_us", "step_slow_tenth_us")),
    ("wire", lambda row: f"{row['wire_fraction']:.3f}"),
    ("CPU idle", lambda row: f"{row['cpu_idle_fraction']:.2f}"),
    ("others'", lambda row: f"{row['cpu_others_fraction']:.2f}"
     + ("!" if accounts.is_disturbed(row) else "")),
)
_SECOND_COLUMN: table.Column = (
    "second Mbit/s", lambda row: f"{row['second_mbit']:.0f}")
_FLOW_COLUMN: table.Column = ("flow Mbit/s", lambda row: "+".join(
    f"{rate:.0f}" for rate in row["flow_mbit"]))


# Only with --wide.
_WIDE = ("transport", "p90 ms", "p99.9 ms", "algbw GB/s", "bound ms",
         "bounded", "expired", "wire", "CPU idle")
_WIDE_IN_LAB = ("p99 ms", "busbw GB/s")


def render(rows: Sequence[Mapping], wide: bool = False) -> str:
    """The table, with a blank line between sizes. Unless `wide`, it has at
    most 100 columns of text, where names are short."""
    columns = _COLUMNS
    if any(row["transport"] == "ubt" for row in rows):
        columns += _BOUNDED_COLUMNS
    in_lab = "lab_environment" in rows[0]
    if in_lab:
        columns += _LAB_COLUMNS
        if rows[0]["flow_mbit"]:
            columns += (_FLOW_COLUMN,)
        if rows[0]["second_mbit"] is not None:
            columns += (_SECOND_COLUMN,)
    if not wide:
        hidden = _WIDE + (_WIDE_IN_LAB if in_lab else ())
        columns = tuple(column for column in columns
                        if column[0] not in hidden)
    return table.render(columns, rows, words=2 if wide else 1, group="bytes")


def _draw(results: Results, path: str) -> None:
    panels = []
    for size in dict.fromkeys(row["bytes"] for row, _ in results):
        panels.append((
            f"{table.human_bytes(size)}, {results[0][0]['ranks']} ranks",
            plot.tails({row["algorithm"]: [us / 1000 for us in samples]
                        for row, samples in results if row["bytes"] == size})))
    with findings.writing("--plot", path) as place:
        plot.draw(place, panels)


def _show(arguments: argparse.Namespace, run: origin.Origin,
          results: Results) -> None:
    rows = [row for row, _ in results]
    print(render(rows, arguments.wide), end="", flush=True)
    if arguments.in_lab:
        _show_lab(arguments.in_lab, rows)
    for row in rows:
        if verdict(row) != "yes":
            print(f"error: {row['algorithm']} with {row['elements']} elements: "
                  f"{verdict(row)}{_WHY.get(verdict(row), '')}",
                  file=sys.stderr)
    try:
        if arguments.json:
            table.write_rows(arguments.json, run, [
                {**row, "percentiles_us": table.percentiles(samples)}
                for row, samples in results])
    finally:
        if arguments.plot:
            _draw(results, arguments.plot)


def _show_lab(lab: settings.Settings, rows: Sequence[Mapping]) -> None:
    print(f"\n{lab}")
    lateness = lab.lateness()
    if lateness:
        late = {ANY: "some rank", EACH: "each rank, for itself,"}.get(
            lateness.who, f"rank {lateness.who}")
        print(f"{late} was late at times; times are those of the slowest of "
              "the others")
    # A second job changes the network.
    checked = (accounts.check(lab, rows) if rows[0]["second_mbit"] is None
               else None)
    if checked:
        print(checked.text)
    for warning in (checked and checked.warning, accounts.busy(rows),
                    accounts.disturbed(rows)):
        if warning:
            print(f"warning: {warning}", file=sys.stderr)


def _compare(arguments: argparse.Namespace, binary: str,
             names: Sequence[str]) -> int:
    results: Results = []
    if not arguments.shows:
        exit_code = _run(arguments, binary, names, results)
        if exit_code:
            print("error: not all rows are sound; rank 0 says which",
                  file=sys.stderr)
        return exit_code
    run = origin.origin()
    print(run.heading([arguments.ranks]), flush=True)
    with findings.shown(results, len(names) * len(arguments.elements), "rows",
                        lambda: _show(arguments, run, results)):
        return _run(arguments, binary, names, results)


def _main(argv: Sequence[str]) -> int:
    arguments = parse(argv)
    if arguments.only_check:
        return options.checked()
    # Outside the lab: the build leaves a Bazel server running for the next
    # one.
    binary = arguments.binary or bazel.build(algorithms.WORKER)
    names = list(algorithms.choose(binary, arguments.algorithms,
                                   arguments.ranks))
    if arguments.lab_second is not None:
        algorithms.choose(binary, (arguments.lab_second,), arguments.ranks)
    if arguments.in_lab:
        return isolation.run(lambda: _compare(arguments, binary, names))
    return _compare(arguments, binary, names)


def main(argv: Sequence[str]) -> int:
    """Returns the exit code."""
    return run_command(_main, argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
