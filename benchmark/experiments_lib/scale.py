# SPDX-License-Identifier: Apache-2.0
"""Many ranks, in the simulator."""
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from . import in_lab
from .experiment import Claim, Experiment, Part, Results
from .markdown import number, share, table
from .pictures import Pictures, colour

_BOUNDED = "optireduce:none"
_POWERS = ("ring", "halving_doubling", "tree", "transpose",
           "hierarchical_transpose", _BOUNDED)
_FEW = ("ring", "tree", "transpose", _BOUNDED)
_TAILS, _LONG_TAIL = "1.5,3", "3"
_BURSTS = ("p3", "micro")
_FLOATS, _LARGE_FLOATS = 1000000, 6250000  # 4 MB; PyTorch's 25 MB
# What may be under way to a rank: on a fast link more than by default, or all
# wait for leave to go on.
_DEFAULT_WINDOW, _LARGE_WINDOW = 2 << 20, 16 << 20
_GBIT = 100  # of a fast link
_BOUND_US = 400  # of a stage, by hand
_WINDOW, _BY_HAND = "window", "by-hand"
# Speeds that the papers tell of trainings: ring's, and NCCL's, of 1.
_THAN_RING, _THAN_NCCL = 1.7, 1.3
_NCCL = ("ring", "tree")  # the better of them
_EXACT = "transpose"
_FEWEST, _MOST = 8, 1024  # ranks
_ENOUGH = 1.3  # so much longer may the p99 of most ranks be than of fewest
_WHY_NO_FASTER = """\
the others' connections are ideal here, lose nothing and take no CPU time; and
the larger the bucket, the more of the time is its links' own, which no
algorithm shortens."""
_WHY_GROWS = """\
a stage waits for the slowest of all ways to a rank, and of more ways the
slowest is slower: so much an exact transpose grows, too. What is more is the
protocol's own. Of that, bounds are a part: learned ones allow for a quarter
over the middle, and what one set by hand does instead is told below, if it was
measured. What the rest is is not known."""
_WHY_SLOWER_BY_DEFAULT = """\
ranks wait for leave to go on (see the section on the default's window): on a
fast link GLOO_UBT_WINDOW_BYTES has to be more."""
_MINUTES, _GB = 10, 8  # for a job of most ranks and floats, on one CPU


def _ways(ranks: str, warmup: int, ops: int, seconds: float, groups: int = 4,
          elements: int = _FLOATS, gbit: float = _GBIT, tails: str = _TAILS,
          algorithms: Sequence[str] = _POWERS) -> Part:
    first = ranks.partition(",")[0]
    size = "" if elements == _FLOATS else f"-{elements}-floats"
    window = _LARGE_WINDOW if gbit >= _GBIT else _DEFAULT_WINDOW
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
                ("8,32", 20, 60, 25), ("128", 5, 10, 120))]


def _otherwise(name: str, window: int, *more: str) -> Part:
    """Some of the ways' jobs, with other settings."""
    return Part(
        name,
        ("benchmark/simulate", "--algorithms", _BOUNDED, "--ranks",
         "8,64,128", "--elements", str(_FLOATS), "--tail", _LONG_TAIL,
         "--every", "2", "--gbit", str(_GBIT), "--window", str(window),
         "--warmup", "20", "--ops", "30", *more), 60,
        says_failures=True)


def _parts(quick: bool) -> Sequence[Part]:
    if quick:
        return [_ways("8,32", 10, 10, 12, elements=250000)]
    return [
        _ways("8,16,32,64,128", 20, 30, 120), _ways("256,512", 6, 10, 350, 16),
        _ways("1024", 2, 2, 360, 32),
        _ways("8,32,128", 4, 6, 80, elements=_LARGE_FLOATS, algorithms=_FEW),
        _ways("1024", 1, 1, 520, elements=_LARGE_FLOATS, algorithms=_FEW),
        *(_ways("8,64", 20, 30, 25, gbit=gbit, tails=_LONG_TAIL)
          for gbit in (10, 400)),
        _otherwise(_WINDOW, _DEFAULT_WINDOW),
        _otherwise(_BY_HAND, _LARGE_WINDOW, "--bound", str(_BOUND_US)),
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
    """Of those that may lose something."""
    curves = _curves([row for row in rows if row["algorithm"] == _BOUNDED],
                     lambda row: 100 * row["loss_fraction"])

    def paint(axis: Any) -> None:
        curves(axis)
        axis.set_ylim(bottom=0)
        axis.set_ylabel("lost, %")
    return paint


def _slowest(rows: Sequence[Mapping]) -> str:
    """What to call the last percentile of so few."""
    enough = all(row["iterations"] >= in_lab.FOR_P99 for row in rows)
    return "p99" if enough else "slowest"


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


def _growths(rows: Sequence[Mapping], key: str,
             algorithm: str = _BOUNDED) -> dict[int, float]:
    """Its time, of what it is with fewest ranks, by ranks."""
    own = sorted((row for row in rows if row["algorithm"] == algorithm),
                 key=lambda row: row["ranks"])
    return {row["ranks"]: row[key] / own[0][key] for row in own}


def _growth(rows: Sequence[Mapping]) -> str:
    """How the bounded one's times grow."""
    middles, slowest = (_growths(rows, key) for key in ("p50_ms", "p99_ms"))
    if len(middles) < 2:
        return ""

    def times(growth: Mapping[int, float]) -> str:
        most = max(growth, key=lambda ranks: growth[ranks])
        return (f"{growth[max(growth)]:.2f} times, at most "
                f"{growth[most]:.2f} times ({most} ranks)")

    return (f"{_BOUNDED} with {max(middles)} ranks, of what it takes with "
            f"{min(middles)}: in the middle {times(middles)}; the "
            f"{_slowest(rows)} {times(slowest)}.\n\n")


def _name_of(row: Mapping) -> str:
    return (f"{row['gbit']:g} Gbit/s, {4 * row['elements'] / 1e6:g} MB, ways "
            f"with a P99/50 of {row['tail']:g}, a window of "
            f"{row['window_bytes'] >> 20} MiB")


def _ways_by_network(results: Results) -> dict[tuple[float, float, int],
                                               list[Mapping]]:
    """By Gbit/s, tail and floats, failed ones included."""
    networks: dict[tuple[float, float, int], list[Mapping]] = {}
    for name, rows in results.items():
        for row in rows:
            if name.startswith("ways-"):
                networks.setdefault(
                    (row["gbit"], row["tail"], row["elements"]), []).append(row)
    return dict(sorted(networks.items()))


def _done(rows: Iterable[Mapping]) -> list[Mapping]:
    return [row for row in rows if row["failed"] is None]


def _otherwise_told(title: str, what: str, rows: Sequence[Mapping],
                    usual: Sequence[Mapping]) -> str:
    """Jobs with other settings, beside the `usual` ones; none: nothing."""
    if not rows:
        return ""
    middles = {row["ranks"]: row["p50_ms"] for row in usual
               if row["algorithm"] == _BOUNDED}
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
    for (gbit, tail, elements), rows in _ways_by_network(results).items():
        done = _done(rows)
        if done:
            text += _section(f"{gbit:g}-{tail:g}-{elements}",
                             _name_of(done[0]), done, pictures)
        if (gbit, tail, elements) == (_GBIT, float(_LONG_TAIL), _FLOATS):
            usual = done
    text += _otherwise_told(
        "With the default's window", "GLOO_UBT_WINDOW_BYTES lets 2 MiB be under "
        "way to a rank, if it is not set. The more ranks, the more often each "
        "then waits for leave to go on.", _done(results.get(_WINDOW, ())),
        usual)
    text += _otherwise_told(
        "With a bound set by hand", "A learned bound allows for a quarter more "
        "than what a stage takes in the middle. This one, "
        f"{_BOUND_US} us for each of two stages, is the same for any number of "
        "ranks; and no stage ends early.", _done(results.get(_BY_HAND, ())),
        usual)
    for environment in _BURSTS:
        rows = _done(row for name, rows in results.items()
                     if name.startswith(f"bursts-{environment}-")
                     for row in rows)
        if rows:
            text += _section(f"bursts-{environment}", "500 Mbit/s, the lab's "
                             f"bursts of {environment}", rows, pictures)
    for rows in results.values():
        for row in rows:
            if row["failed"] is not None:
                text += (f"{row['algorithm']} with {row['ranks']} ranks "
                         f"failed: {row['failed']}.\n\n")
    return text


def _speed_up(rows: Sequence[Mapping], others: Sequence[str]) -> float | None:
    """Over the fastest of the others; None: not simulated."""
    times = {row["algorithm"]: row["mean_ms"] for row in _done(rows)
             if row["ranks"] == _FEWEST}
    if _BOUNDED not in times or any(name not in times for name in others):
        return None
    return min(times[name] for name in others) / times[_BOUNDED]


def _speed_up_claims(of: str, by_tail: Mapping[float, Sequence[Mapping]],
                     why: str) -> list[Claim]:
    claims = []
    for whose, others, papers in (("Gloo's ring", ("ring",), _THAN_RING),
                                  ("NCCL's ring and tree", _NCCL, _THAN_NCCL)):
        found = {tail: ratio for tail, rows in by_tail.items()
                 if (ratio := _speed_up(rows, others)) is not None}
        if found:
            claims.append(Claim(
                f"Speed-up of an allreduce of {of} over {whose}, {_FEWEST} "
                "ranks, simulated", f"{papers} (of trainings)",
                f"{papers} with each tail",
                ", ".join(f"{ratio:.3f} (P99/50 of {tail:g})"
                          for tail, ratio in found.items()),
                min(found.values()) >= papers, why))
    return claims


def _grown(rows: Sequence[Mapping],
           algorithm: str = _BOUNDED) -> tuple[float, float] | None:
    """By how much the slowest, and the middle, at most; None where ranks do
    not."""
    slowest, middles = (_growths(_done(rows), key, algorithm)
                        for key in ("p99_ms", "p50_ms"))
    if len(middles) < 2 or _FEWEST not in middles:
        return None
    return max(slowest.values()), max(middles.values())


def _grown_told(rows: Sequence[Mapping], tail: float) -> str:
    """REQUIRES that ranks grow."""
    counts = sorted({row["iterations"] for row in rows
                     if row["algorithm"] == _BOUNDED})
    slowest, middle = _grown(rows) or (0, 0)
    exact = _grown(rows, _EXACT)
    return (f"{slowest:.2f}, in the middle {middle:.2f}, of "
            + (f"{counts[-1]} to {counts[0]}" if len(counts) > 1
               else f"{counts[0]}") + f" allreduces (P99/50 of {tail:g}"
            + (f"; exact {_EXACT} {exact[0]:.2f}, {exact[1]:.2f}" if exact
               else "") + ")")


def _growth_claims(of: str, by_tail: Mapping[float, Sequence[Mapping]]
                   ) -> list[Claim]:
    found = {tail: grown for tail, rows in by_tail.items()
             if (grown := _grown(rows))}
    if not found:
        return []
    own = [row for tail in found for row in by_tail[tail]
           if row["algorithm"] == _BOUNDED]
    ranks = sorted({row["ranks"] for row in own})
    failed = [row["ranks"] for row in own if row["failed"] is not None]
    told = "; ".join(_grown_told(by_tail[tail], tail) for tail in found)
    if failed:
        told += f"; failed with {', '.join(map(str, failed))} ranks"
    most = max(max(grown) for grown in found.values())
    return [Claim(
        f"The slowest {_BOUNDED} of {of} with {ranks[1]} to {ranks[-1]} ranks, "
        f"of that with {ranks[0]}, at most", "", f"{_ENOUGH} with each tail",
        told, most <= _ENOUGH and not failed, _WHY_GROWS)]


def _cost_claim(rows: Iterable[Mapping]) -> list[Claim]:
    own = [row for row in rows if row["algorithm"] == _BOUNDED
           and (row["ranks"], row["elements"]) == (_MOST, _LARGE_FLOATS)]
    if not own:
        return []
    minutes = max(row["cpu_seconds"] for row in own) / 60
    memory = max(row["peak_bytes"] for row in own) / 1e9
    return [Claim(
        f"To simulate {_BOUNDED} of {_MOST} ranks x 25 MB", "",
        f"{_MINUTES} minutes of one CPU, {_GB} GB",
        f"{minutes:.1f} minutes, {memory:.2f} GB",
        minutes < _MINUTES and memory < _GB, "see the table.")]


def _claims(results: Results) -> list[Claim]:
    sizes: dict[int, dict[float, Sequence[Mapping]]] = {}
    for (gbit, tail, elements), rows in _ways_by_network(results).items():
        if gbit == _GBIT:
            sizes.setdefault(elements, {})[tail] = rows
    claims = []
    for elements, by_tail in sizes.items():
        of = f"{4 * elements / 1e6:g} MB at {_GBIT} Gbit/s"
        large = f"{of}, a window of {_LARGE_WINDOW >> 20} MiB"
        claims += (_speed_up_claims(large, by_tail, _WHY_NO_FASTER)
                   + _growth_claims(large, by_tail))
        default, tail = results.get(_WINDOW, ()), float(_LONG_TAIL)
        if elements == _FLOATS and default:
            of += f", the default's window of {_DEFAULT_WINDOW >> 20} MiB"
            beside = [row for row in by_tail.get(tail, ())
                      if row["algorithm"] != _BOUNDED
                      and row["ranks"] in {own["ranks"] for own in default}]
            by_default = {tail: [*beside, *default]}
            claims += (_speed_up_claims(of, by_default, _WHY_SLOWER_BY_DEFAULT)
                       + _growth_claims(of, by_default))
    return claims + _cost_claim(
        row for by_tail in sizes.values() for rows in by_tail.values()
        for row in _done(rows))


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
    "timed. Gloo's bcube, of base 2, sends what halving_doubling does, between "
    "other pairs.",
    _parts, _tell, _claims, needs_root=False)
