# SPDX-License-Identifier: Apache-2.0
"""Many ranks, in the simulator."""
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from . import in_lab
from .experiment import Experiment, Part, Results
from .markdown import number, share, table
from .pictures import Pictures, colour
from .scale_claims import claims
from .simulated import (BOUND_US, BOUNDED, BY_HAND, DEFAULT_WINDOW, FLOATS,
                        GBIT, LARGE_FLOATS, LARGE_WINDOW, LONG_TAIL, WINDOW,
                        by_network, done, growths, of_parts)

_POWERS = ("ring", "halving_doubling", "tree", "transpose",
           "hierarchical_transpose", BOUNDED)
_FEW = ("ring", "tree", "transpose", BOUNDED)
_TAILS = "1.5,3"
_BURSTS = ("p3", "micro")
_AT_ONCE = "at-once"


def _ways(ranks: str, warmup: int, ops: int, seconds: float, groups: int = 4,
          elements: int = FLOATS, gbit: float = GBIT, tails: str = _TAILS,
          algorithms: Sequence[str] = _POWERS) -> Part:
    first = ranks.partition(",")[0]
    size = "" if elements == FLOATS else f"-{elements}-floats"
    window = LARGE_WINDOW if gbit >= GBIT else DEFAULT_WINDOW
    return Part(
        f"ways-{gbit:g}-from-{first}{size}",
        ("benchmark/simulate", "--algorithms", ",".join(algorithms),
         "--ranks", ranks, "--groups", str(groups),
         "--elements", str(elements),
         "--tail", tails, "--every", "2", "--gbit", f"{gbit:g}",
         "--window", str(window), "--warmup",
         str(warmup), "--ops", str(ops)), seconds,
        says_failures=True)


def _bursts(environment: str) -> Sequence[Part]:
    return [Part(
        f"bursts-{environment}-from-{ranks.partition(',')[0]}",
        ("benchmark/simulate", "--algorithms", ",".join(_FEW), "--ranks",
         ranks, "--lab", environment, "--warmup", str(warmup), "--ops",
         str(ops)), seconds, says_failures=True)
            for ranks, warmup, ops, seconds in (
                ("8,32", 20, 60, 39), ("128", 5, 6, 81))]


def _otherwise(name: str, window: int, *more: str, ranks: str = "8,64,128",
               warmup: int = 20, ops: int = 20, seconds: float = 45) -> Part:
    """A part with other settings for some of the `ways` jobs."""
    return Part(
        name,
        ("benchmark/simulate", "--algorithms", BOUNDED, "--ranks",
         ranks, "--elements", str(FLOATS), "--tail", LONG_TAIL,
         "--every", "2", "--gbit", str(GBIT), "--window", str(window),
         "--warmup", str(warmup), "--ops", str(ops), *more), seconds,
        says_failures=True)


def _parts(quick: bool) -> Sequence[Part]:
    if quick:
        return [_ways("8,32", 10, 10, 12, elements=250000)]
    return [
        _ways("8,16,32,64,128", 20, 20, 84), _ways("256,512", 3, 4, 154, 16),
        _ways("1024", 2, 1, 275, 32),
        _ways("8,32,128", 4, 4, 54, elements=LARGE_FLOATS, algorithms=_FEW),
        _ways("1024", 1, 1, 465, elements=LARGE_FLOATS, algorithms=_FEW),
        *(_ways("8,64", 20, 20, 18, gbit=gbit, tails=LONG_TAIL)
          for gbit in (10, 400)),
        _otherwise(WINDOW, DEFAULT_WINDOW, seconds=60),
        _otherwise(BY_HAND, LARGE_WINDOW, "--bound", str(BOUND_US)),
        _otherwise(f"{BY_HAND}-from-512", LARGE_WINDOW, "--bound",
                   str(BOUND_US), ranks="512", warmup=3, ops=4, seconds=72),
        _otherwise(_AT_ONCE, LARGE_WINDOW, "--looks", "0"),
        *(part for environment in _BURSTS for part in _bursts(environment))]


def _curves(rows: Sequence[Mapping],
            value: Callable[[Mapping], float]) -> Callable[[Any], None]:
    def paint(axis: Any) -> None:
        for name in _POWERS:
            own = [row for row in rows if row["algorithm"] == name]
            if own:
                axis.plot([row["ranks"] for row in own], list(map(value, own)),
                          marker=".", label=name, color=colour(name))
        axis.set_xscale("log", base=2)
        axis.xaxis.set_major_formatter("{x:g}")
        axis.set_xlabel("ranks")
    return paint


def _times(rows: Sequence[Mapping], key: str) -> Callable[[Any], None]:
    curves = _curves(rows, lambda row: row[key])

    def paint(axis: Any) -> None:
        curves(axis)
        axis.set_yscale("log")
        axis.set_ylabel("ms")
    return paint


def _lost(rows: Sequence[Mapping]) -> Callable[[Any], None]:
    """Draws the loss of the bounded algorithm."""
    curves = _curves([row for row in rows if row["algorithm"] == BOUNDED],
                     lambda row: 100 * row["loss_fraction"])

    def paint(axis: Any) -> None:
        curves(axis)
        axis.set_ylim(bottom=0)
        axis.set_ylabel("lost, %")
    return paint


def _slowest(rows: Sequence[Mapping]) -> str:
    """The name of the last percentile, which depends on the number of rows."""
    return "p99" if in_lab.have_p99(rows) else "slowest"


def _table(rows: Sequence[Mapping]) -> str:
    return table(
        ("algorithm", "ranks", "p50 ms", f"{_slowest(rows)} ms", "lost",
         "iterations", "to simulate: CPU s", "GB"),
        [(_label(row), str(row["ranks"]), number(row["p50_ms"]),
          number(row["p99_ms"]), share(row["loss_fraction"]),
          str(row["iterations"]), number(row["cpu_seconds"]),
          number(row["peak_bytes"] / 1e9)) for row in rows])


def _label(row: Mapping) -> str:
    name = row["algorithm"]
    return (f"{name}, {row['groups']} groups"
            if name == "hierarchical_transpose" else name)


def _growth(rows: Sequence[Mapping]) -> str:
    """Describes how the bounded algorithm's times grow."""
    middles, slowest = (growths(rows, key) for key in ("p50_ms", "p99_ms"))
    if len(middles) < 2:
        return ""

    def times(growth: Mapping[int, float]) -> str:
        most = max(growth, key=lambda ranks: growth[ranks])
        return (f"{growth[max(growth)]:.2f} times, at most "
                f"{growth[most]:.2f} times ({most} ranks)")

    return (f"{BOUNDED} with {max(middles)} ranks, of what it takes with "
            f"{min(middles)}: in the middle {times(middles)}; the "
            f"{_slowest(rows)} {times(slowest)}.\n\n")


def _name_of(row: Mapping) -> str:
    return (f"{row['gbit']:g} Gbit/s, {4 * row['elements'] / 1e6:g} MB, ways "
            f"with a P99/50 of {row['tail']:g}, a window of "
            f"{row['window_bytes'] >> 20} MiB")


def _otherwise_told(title: str, what: str, rows: Sequence[Mapping],
                    usual: Sequence[Mapping]) -> str:
    """Compares jobs of other settings with the `usual` ones. Empty without
    rows."""
    if not rows:
        return ""
    middles = {row["ranks"]: row["p50_ms"] for row in usual
               if row["algorithm"] == BOUNDED}
    told = ", ".join(f"{row['p50_ms'] / middles[row['ranks']]:.2f} "
                     f"({row['ranks']} ranks)" for row in rows
                     if row["ranks"] in middles)
    return (f"### {title}\n\n{what} {_name_of(rows[0])}:\n\n" + _table(rows)
            + _growth(rows)
            + (f"Its p50, of that above: {told}.\n\n" if told else ""))


def _section(name: str, title: str, rows: Sequence[Mapping],
             pictures: Pictures) -> str:
    rows = sorted(rows, key=lambda row: (
        _POWERS.index(row["algorithm"]), row["ranks"]))
    return (f"### {title}\n\n" + pictures.draw(
        f"scale-{name}", title, [("p50", _times(rows, "p50_ms")),
                                 (_slowest(rows), _times(rows, "p99_ms")),
                                 ("lost", _lost(rows))])
            + "\n" + _table(rows) + _growth(rows))


def _tell(results: Results, pictures: Pictures) -> str:
    text, usual = "", []
    for (gbit, tail, elements), rows in by_network(results).items():
        own = done(rows)
        if own:
            text += _section(f"{gbit:g}-{tail:g}-{elements}",
                             _name_of(own[0]), own, pictures)
        if (gbit, tail, elements) == (GBIT, float(LONG_TAIL), FLOATS):
            usual = own
    text += _otherwise_told(
        "With the default's window", "GLOO_UBT_WINDOW_BYTES lets 2 MiB be under "
        "way to a rank, if it is not set. The more ranks, the more often each "
        "then waits for leave to go on.", done(results.get(WINDOW, ())),
        usual)
    text += _otherwise_told(
        "With a bound set by hand", "A learned bound allows for a quarter more "
        "than what a stage takes in the middle. This one, "
        f"{BOUND_US} us for each of two stages, is the same for any number of "
        "ranks; and no stage ends before it but with all that it waits for.", done(of_parts(results, BY_HAND)),
        usual)
    text += _otherwise_told(
        "With hosts that look at once", "Hosts look for packets, and at their "
        "timers, every 20 us, as busy ones do. These do so whenever something "
        "comes in.", done(results.get(_AT_ONCE, ())), usual)
    for environment in _BURSTS:
        rows = done(of_parts(results, f"bursts-{environment}-"))
        if rows:
            text += _section(f"bursts-{environment}", "500 Mbit/s, the lab's "
                             f"bursts of {environment}", rows, pictures)
    for rows in results.values():
        for row in rows:
            if row["failed"] is not None:
                text += (f"{row['algorithm']} with {row['ranks']} ranks "
                         f"failed: {row['failed']}.\n\n")
    return text


EXPERIMENT = Experiment(
    "scale", "Many ranks (simulated)",
    "How does each algorithm do as ranks grow more? Simulated: ways between "
    "ranks take 50 us in the middle and have a tail, drawn anew for each pair "
    "every 2 ms; or the lab's links and bursts. optireduce is the protocol "
    "itself, on hosts with nothing else to do, and from the start with all of "
    "the window that a section names. The others, NCCL's ring and tree among "
    "them, have ideal connections, which lose and repeat nothing and share "
    "links evenly, so that they do better here than over TCP; their ranks "
    "begin an allreduce once all have finished the one before. The more ranks, "
    "the fewer allreduces bounds are learned from (20 to 1), and the fewer are "
    "timed; what that does to them was not measured. Gloo's bcube, of base 2, sends what halving_doubling does, between "
    "other pairs.",
    _parts, _tell, claims, needs_root=False)
