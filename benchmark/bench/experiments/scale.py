# SPDX-License-Identifier: Apache-2.0
"""Many ranks, in the simulator."""
from collections.abc import Iterable, Mapping, Sequence

from .. import plot
from . import figures
from .experiment import Claim, Experiment, Part, Results
from .page import Page, number, share

_BOUNDED = "optireduce:none"
_POWERS = ("ring", "halving_doubling", "tree", "transpose",
           "hierarchical_transpose", _BOUNDED)
_FEW = ("ring", "tree", "transpose", _BOUNDED)
_DRAWN = ("ring", "halving_doubling", "tree", "transpose", _BOUNDED)
_TAILS, _LONG_TAIL = "1.5,3", "3"
_BURSTS = ("p3", "micro")
_FLOATS, _LARGE_FLOATS = 1000000, 6250000  # 4 MB; PyTorch's 25 MB
_GBIT = 100  # of a fast link
# How many bytes may be under way to a rank. A fast link needs more than the
# default, or all ranks wait for credit.
_DEFAULT_WINDOW, _LARGE_WINDOW = 2 << 20, 16 << 20
# Parts that change one setting: the default's window; a bound set by hand, of
# each stage; hosts that look for packets at once.
_WINDOW, _BY_HAND, _AT_ONCE = "window", "by-hand", "at-once"
_BOUND_US = 400
# The papers' speed-ups of trainings over ring and over NCCL.
_THAN = (("Gloo's ring", ("ring",), 1.7),
         ("NCCL's ring and tree", ("ring", "tree"), 1.3))
_EXACT = "transpose"
_FEWEST, _MOST = 8, 1024  # ranks
_ENOUGH = 1.3  # largest allowed growth from fewest to most ranks
_HARMLESS = 0.05  # of lost data, as in the papers
_MINUTES, _GB = 10, 8  # for a job with most ranks and floats, on one CPU


def _ways(ranks: str, warmup: int, ops: int, seconds: float, groups: int = 4,
          elements: int = _FLOATS, gbit: float = _GBIT, tails: str = _TAILS,
          algorithms: Sequence[str] = _POWERS) -> Part:
    size = "" if elements == _FLOATS else f"-{elements}-floats"
    window = _LARGE_WINDOW if gbit >= _GBIT else _DEFAULT_WINDOW
    return Part(
        f"ways-{gbit:g}-from-{ranks.partition(',')[0]}{size}",
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
        ("benchmark/simulate", "--algorithms", _BOUNDED, "--ranks",
         ranks, "--elements", str(_FLOATS), "--tail", _LONG_TAIL,
         "--every", "2", "--gbit", str(_GBIT), "--window", str(window),
         "--warmup", str(warmup), "--ops", str(ops), *more), seconds,
        says_failures=True)


def _parts(quick: bool) -> Sequence[Part]:
    if quick:
        return [_ways("8,32", 10, 10, 12, elements=250000)]
    return [
        _ways("8,16,32,64,128", 20, 20, 84), _ways("256,512", 3, 4, 154, 16),
        _ways("1024", 2, 1, 275, 32),
        _ways("8,32,128", 4, 4, 54, elements=_LARGE_FLOATS, algorithms=_FEW),
        _ways("1024", 1, 1, 465, elements=_LARGE_FLOATS, algorithms=_FEW),
        *(_ways("8,64", 20, 20, 18, gbit=gbit, tails=_LONG_TAIL)
          for gbit in (10, 400)),
        _otherwise(_WINDOW, _DEFAULT_WINDOW, seconds=60),
        _otherwise(_BY_HAND, _LARGE_WINDOW, "--bound", str(_BOUND_US)),
        _otherwise(f"{_BY_HAND}-from-512", _LARGE_WINDOW, "--bound",
                   str(_BOUND_US), ranks="512", warmup=3, ops=4, seconds=72),
        _otherwise(_AT_ONCE, _LARGE_WINDOW, "--looks", "0"),
        *(part for environment in _BURSTS for part in _bursts(environment))]


def _done(rows: Iterable[Mapping]) -> list[Mapping]:
    return [row for row in rows if row["failed"] is None]


def _of_parts(results: Results, begin: str) -> list[Mapping]:
    """The rows of all parts with this prefix, including failed ones."""
    return [row for name, rows in results.items() if name.startswith(begin)
            for row in rows]


def _by_network(results: Results) -> dict[tuple[float, float, int],
                                          list[Mapping]]:
    """Rows by Gbit/s, tail and floats, including failed ones."""
    networks: dict[tuple[float, float, int], list[Mapping]] = {}
    for row in _of_parts(results, "ways-"):
        networks.setdefault((row["gbit"], row["tail"], row["elements"]),
                            []).append(row)
    return dict(sorted(networks.items()))


def _growths(rows: Sequence[Mapping], key: str,
             algorithm: str = _BOUNDED) -> dict[int, float]:
    """The time relative to that with the fewest ranks, by ranks."""
    own = sorted((row for row in rows if row["algorithm"] == algorithm),
                 key=lambda row: row["ranks"])
    return {row["ranks"]: row[key] / own[0][key] for row in own}


def _slowest(rows: Sequence[Mapping]) -> str:
    """The name of the last percentile, which depends on the number of rows."""
    return "p99" if figures.have_p99(rows) else "slowest"


def _label(row: Mapping) -> str:
    name = row["algorithm"]
    return (f"{name}, {row['groups']} groups"
            if name == "hierarchical_transpose" else name)


def _title(row: Mapping) -> str:
    return (f"{row['gbit']:g} Gbit/s, {4 * row['elements'] / 1e6:g} MB, paths "
            f"with a P99/50 of {row['tail']:g}, a window of "
            f"{row['window_bytes'] >> 20} MiB")


def _table(rows: Sequence[Mapping], page: Page) -> None:
    """The rows, and how the bounded algorithm's times grow."""
    rows = sorted(rows, key=lambda row: (
        _POWERS.index(row["algorithm"]), row["ranks"]))
    page.table(
        ("algorithm", "ranks", "p50 ms", f"{_slowest(rows)} ms", "lost",
         "iterations", "to simulate: CPU s", "GB"),
        [(_label(row), str(row["ranks"]), number(row["p50_ms"]),
          number(row["p99_ms"]), share(row["loss_fraction"]),
          str(row["iterations"]), number(row["cpu_seconds"]),
          number(row["peak_bytes"] / 1e9)) for row in rows])
    medians, slowest = (_growths(rows, key) for key in ("p50_ms", "p99_ms"))
    if len(medians) > 1:
        def told(growth: Mapping[int, float]) -> str:
            most = max(growth, key=lambda ranks: growth[ranks])
            return (f"{growth[max(growth)]:.2f}x, at most {growth[most]:.2f}x "
                    f"({most} ranks)")

        page.line(f"{_BOUNDED} with {max(medians)} ranks, relative to "
                  f"{min(medians)}: median {told(medians)}; "
                  f"{_slowest(rows)} {told(slowest)}.")


def _panel(rows: Sequence[Mapping]) -> plot.Paint:
    curves = plot.curves(
        {name: sorted((row["ranks"], row["p99_ms"]) for row in rows
                      if row["algorithm"] == name)
         for name in _DRAWN if figures.of(rows, name)},
        "ranks", "slowest, ms", log=True)

    def paint(axis: object) -> None:
        curves(axis)
        axis.set_xscale("log", base=2)
        axis.xaxis.set_major_formatter("{x:g}")
    return paint


def _picture(name: str, caption: str, networks: Mapping[str, Sequence[Mapping]],
             page: Page) -> None:
    if networks:
        page.picture(name, caption, [
            (title, _panel(rows)) for title, rows in networks.items()],
            columns=2)


def _show(results: Results, page: Page) -> None:
    networks = {key: own for key, rows in _by_network(results).items()
                if (own := _done(rows))}
    _picture("scale", "Times by number of ranks", {
        f"{4 * elements / 1e6:g} MB, P99/50 of {tail:g}": rows
        for (gbit, tail, elements), rows in networks.items()
        if gbit == _GBIT}, page)
    _picture("scale-bursts", "Times by number of ranks, among bursts", {
        environment: rows for environment in _BURSTS
        if (rows := _done(_of_parts(results, f"bursts-{environment}-")))},
        page)
    for rows in networks.values():
        page.heading(_title(rows[0]))
        _table(rows, page)
    usual = {row["ranks"]: row["p50_ms"] for row in networks.get(
        (_GBIT, float(_LONG_TAIL), _FLOATS), ())
             if row["algorithm"] == _BOUNDED}
    for begin, title in ((_WINDOW, "With the default's window"),
                         (_BY_HAND, f"With a bound of {_BOUND_US} us for each "
                          "stage, set by hand"),
                         (_AT_ONCE, "With hosts that look at once")):
        rows = _done(_of_parts(results, begin))
        if rows:
            page.heading(f"{title}: {_title(rows[0])}")
            _table(rows, page)
            told = ", ".join(f"{row['p50_ms'] / usual[row['ranks']]:.2f} "
                             f"({row['ranks']} ranks)" for row in rows
                             if row["ranks"] in usual)
            if told:
                page.line(f"Its p50, relative to that above: {told}.")
    for environment in _BURSTS:
        rows = _done(_of_parts(results, f"bursts-{environment}-"))
        if rows:
            page.heading(f"500 Mbit/s, the lab's bursts of {environment}")
            _table(rows, page)
    for row in _of_parts(results, ""):
        if row["failed"] is not None:
            page.line(f"{row['algorithm']} with {row['ranks']} ranks failed: "
                      f"{row['failed']}.")


def _speed_up(rows: Sequence[Mapping], others: Sequence[str]) -> float | None:
    """The speed-up over the fastest of `others`; None: not simulated."""
    times = {row["algorithm"]: row["mean_ms"] for row in _done(rows)
             if row["ranks"] == _FEWEST}
    if _BOUNDED not in times or any(name not in times for name in others):
        return None
    return min(times[name] for name in others) / times[_BOUNDED]


def _speed_up_claims(of: str, by_tail: Mapping[float, Sequence[Mapping]]
                     ) -> list[Claim]:
    claims = []
    for whose, others, papers in _THAN:
        found = {tail: ratio for tail, rows in by_tail.items()
                 if (ratio := _speed_up(rows, others)) is not None}
        if found:
            claims.append(Claim(
                f"Speed-up of an allreduce of {of} over {whose}, {_FEWEST} "
                "ranks, simulated", f"{papers} (of trainings)",
                f"{papers} with each tail",
                ", ".join(f"{ratio:.4f} (P99/50 of {tail:g})"
                          for tail, ratio in found.items()),
                min(found.values()) >= papers))
    return claims


def _grown(rows: Sequence[Mapping],
           algorithm: str = _BOUNDED) -> tuple[float, float] | None:
    """The largest growth of the p99 and of the median. None without several
    numbers of ranks."""
    slowest, medians = (_growths(_done(rows), key, algorithm)
                        for key in ("p99_ms", "p50_ms"))
    if len(medians) < 2 or _FEWEST not in medians:
        return None
    return max(slowest.values()), max(medians.values())


def _most_lost(rows: Iterable[Mapping]) -> float:
    return max(row["loss_fraction"] for row in _done(rows)
               if row["algorithm"] == _BOUNDED)


def _grown_told(rows: Sequence[Mapping], tail: float,
                grown: tuple[float, float]) -> str:
    counts = sorted({row["iterations"] for row in rows
                     if row["algorithm"] == _BOUNDED})
    slowest, median = grown
    exact = _grown(rows, _EXACT)
    lost = _most_lost(rows)
    return (f"{slowest:.2f}, median {median:.2f}, of "
            + (f"{counts[-1]} to {counts[0]}" if len(counts) > 1
               else f"{counts[0]}") + f" allreduces (P99/50 of {tail:g}"
            + (f", up to {share(lost)} lost" if lost else "")
            + (f"; exact {_EXACT} {exact[0]:.2f}, {exact[1]:.2f}" if exact
               else "") + ")")


def _growth_claims(of: str,
                   by_tail: Mapping[float, Sequence[Mapping]]) -> list[Claim]:
    found = {tail: grown for tail, rows in by_tail.items()
             if (grown := _grown(rows))}
    if not found:
        return []
    own = [row for tail in found for row in by_tail[tail]
           if row["algorithm"] == _BOUNDED]
    ranks = sorted({row["ranks"] for row in own})
    failed = [row["ranks"] for row in own if row["failed"] is not None]
    told = "; ".join(_grown_told(by_tail[tail], tail, grown)
                     for tail, grown in found.items())
    if failed:
        told += f"; failed with {', '.join(map(str, failed))} ranks"
    most = max(max(grown) for grown in found.values())
    return [Claim(
        f"The slowest {_BOUNDED} of {of} with {ranks[1]} to {ranks[-1]} ranks, "
        f"relative to {ranks[0]}", "",
        f"at most {_ENOUGH} with each tail, at most {share(_HARMLESS)} lost",
        told, most <= _ENOUGH and _most_lost(own) <= _HARMLESS and not failed)]


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
        minutes < _MINUTES and memory < _GB)]


def _claims(results: Results) -> list[Claim]:
    sizes: dict[int, dict[float, Sequence[Mapping]]] = {}
    for (gbit, tail, elements), rows in _by_network(results).items():
        if gbit == _GBIT:
            sizes.setdefault(elements, {})[tail] = rows
    found = []
    for elements, by_tail in sizes.items():
        of = f"{4 * elements / 1e6:g} MB at {_GBIT} Gbit/s"
        large = f"{of}, a window of {_LARGE_WINDOW >> 20} MiB"
        found += _speed_up_claims(large, by_tail)
        found += _growth_claims(large, by_tail)
        if elements != _FLOATS:
            continue
        tail = float(_LONG_TAIL)
        by_hand, default = (_of_parts(results, begin)
                            for begin in (_BY_HAND, _WINDOW))
        if by_hand:
            found += _growth_claims(
                f"{large}, stages of {_BOUND_US} us by hand", {tail: by_hand})
        if default:
            of += f", the default's window of {_DEFAULT_WINDOW >> 20} MiB"
            others = [row for row in by_tail.get(tail, ())
                      if row["algorithm"] != _BOUNDED
                      and row["ranks"] in {own["ranks"] for own in default}]
            by_default = {tail: [*others, *default]}
            found += _speed_up_claims(of, by_default)
            found += _growth_claims(of, by_default)
    return found + _cost_claim(
        row for by_tail in sizes.values() for rows in by_tail.values()
        for row in _done(rows))


EXPERIMENT = Experiment("scale", "Many ranks (simulated)", _parts, _show,
                        _claims)
