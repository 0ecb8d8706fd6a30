# SPDX-License-Identifier: Apache-2.0
"""Claims of the papers and goals of this project for many ranks."""
from collections.abc import Iterable, Mapping, Sequence

from .experiment import Claim, Results
from .markdown import share
from .simulated import (BOUND_US, BOUNDED, BY_HAND, DEFAULT_WINDOW, FLOATS,
                        GBIT, LARGE_FLOATS, LARGE_WINDOW, LONG_TAIL, WINDOW,
                        by_network, done, growths, of_parts)

# The papers' speed-ups of trainings over ring and over NCCL.
_THAN_RING, _THAN_NCCL = 1.7, 1.3
_NCCL = ("ring", "tree")  # the faster one
_EXACT = "transpose"
_FEWEST, _MOST = 8, 1024  # ranks
_ENOUGH = 1.3  # largest allowed p99 growth from fewest to most ranks
_HARMLESS = 0.05  # of lost data, as in the papers
_WHY_NO_FASTER = """\
the other algorithms have ideal connections here, which lose nothing and take no
CPU time. And no algorithm shortens the time of the links themselves, which is
a larger part with 25 MB than with 4."""
_WHY_GROWS = """\
a stage waits for the slowest path to a rank. More ranks have more paths, and
the slowest of these is slower. An exact transpose grows by that much, too. The
protocol itself causes the rest, but which part of it does is not known. With
more ranks it has fewer allreduces to learn from. The sections below show the
effect of a bound set by hand, and of hosts that look for packets at once, with
4 MB and a P99/50 of 3."""
_WHY_BY_HAND = """\
a bound set by hand trades time for loss. With any number of ranks the slowest
allreduces end at the bound. Data that has not arrived by then is lost, and more
ranks lose more."""
_WHY_SLOWER_BY_DEFAULT = """\
senders wait for credit (see the section on the default's window). A fast link
needs a larger GLOO_UBT_WINDOW_BYTES."""
_MINUTES, _GB = 10, 8  # for a job with most ranks and floats, on one CPU


def _speed_up(rows: Sequence[Mapping], others: Sequence[str]) -> float | None:
    """The speed-up over the fastest of `others`; None: not simulated."""
    times = {row["algorithm"]: row["mean_ms"] for row in done(rows)
             if row["ranks"] == _FEWEST}
    if BOUNDED not in times or any(name not in times for name in others):
        return None
    return min(times[name] for name in others) / times[BOUNDED]


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
                ", ".join(f"{ratio:.4f} (P99/50 of {tail:g})"
                          for tail, ratio in found.items()),
                min(found.values()) >= papers, why))
    return claims


def _grown(rows: Sequence[Mapping],
           algorithm: str = BOUNDED) -> tuple[float, float] | None:
    """The largest growth of the p99 and of the median. None without several
    numbers of ranks."""
    slowest, middles = (growths(done(rows), key, algorithm)
                        for key in ("p99_ms", "p50_ms"))
    if len(middles) < 2 or _FEWEST not in middles:
        return None
    return max(slowest.values()), max(middles.values())


def _most_lost(rows: Iterable[Mapping]) -> float:
    return max(row["loss_fraction"] for row in done(rows)
               if row["algorithm"] == BOUNDED)


def _grown_told(rows: Sequence[Mapping], tail: float,
                grown: tuple[float, float]) -> str:
    counts = sorted({row["iterations"] for row in rows
                     if row["algorithm"] == BOUNDED})
    slowest, middle = grown
    exact = _grown(rows, _EXACT)
    lost = _most_lost(rows)
    return (f"{slowest:.2f}, in the middle {middle:.2f}, of "
            + (f"{counts[-1]} to {counts[0]}" if len(counts) > 1
               else f"{counts[0]}") + f" allreduces (P99/50 of {tail:g}"
            + (f", up to {share(lost)} lost" if lost else "")
            + (f"; exact {_EXACT} {exact[0]:.2f}, {exact[1]:.2f}" if exact
               else "") + ")")


def _growth_claims(of: str, by_tail: Mapping[float, Sequence[Mapping]],
                   why: str = _WHY_GROWS) -> list[Claim]:
    found = {tail: grown for tail, rows in by_tail.items()
             if (grown := _grown(rows))}
    if not found:
        return []
    own = [row for tail in found for row in by_tail[tail]
           if row["algorithm"] == BOUNDED]
    ranks = sorted({row["ranks"] for row in own})
    failed = [row["ranks"] for row in own if row["failed"] is not None]
    told = "; ".join(_grown_told(by_tail[tail], tail, grown)
                     for tail, grown in found.items())
    if failed:
        told += f"; failed with {', '.join(map(str, failed))} ranks"
    most = max(max(grown) for grown in found.values())
    return [Claim(
        f"The slowest {BOUNDED} of {of} with {ranks[1]} to {ranks[-1]} ranks, "
        f"of that with {ranks[0]}, at most", "",
        f"{_ENOUGH} with each tail, at most {share(_HARMLESS)} lost",
        told, most <= _ENOUGH and _most_lost(own) <= _HARMLESS and not failed,
        why)]


def _cost_claim(rows: Iterable[Mapping]) -> list[Claim]:
    own = [row for row in rows if row["algorithm"] == BOUNDED
           and (row["ranks"], row["elements"]) == (_MOST, LARGE_FLOATS)]
    if not own:
        return []
    minutes = max(row["cpu_seconds"] for row in own) / 60
    memory = max(row["peak_bytes"] for row in own) / 1e9
    return [Claim(
        f"To simulate {BOUNDED} of {_MOST} ranks x 25 MB", "",
        f"{_MINUTES} minutes of one CPU, {_GB} GB",
        f"{minutes:.1f} minutes, {memory:.2f} GB",
        minutes < _MINUTES and memory < _GB, "see the table.")]


def claims(results: Results) -> list[Claim]:
    sizes: dict[int, dict[float, Sequence[Mapping]]] = {}
    for (gbit, tail, elements), rows in by_network(results).items():
        if gbit == GBIT:
            sizes.setdefault(elements, {})[tail] = rows
    found = []
    for elements, by_tail in sizes.items():
        of = f"{4 * elements / 1e6:g} MB at {GBIT} Gbit/s"
        large = f"{of}, a window of {LARGE_WINDOW >> 20} MiB"
        found += (_speed_up_claims(large, by_tail, _WHY_NO_FASTER)
                  + _growth_claims(large, by_tail))
        tail = float(LONG_TAIL)
        by_hand, default = of_parts(results, BY_HAND), results.get(WINDOW, ())
        if elements == FLOATS and by_hand:
            found += _growth_claims(
                f"{large}, stages of {BOUND_US} us by hand", {tail: by_hand},
                _WHY_BY_HAND)
        if elements == FLOATS and default:
            of += f", the default's window of {DEFAULT_WINDOW >> 20} MiB"
            beside = [row for row in by_tail.get(tail, ())
                      if row["algorithm"] != BOUNDED
                      and row["ranks"] in {own["ranks"] for own in default}]
            by_default = {tail: [*beside, *default]}
            found += (_speed_up_claims(of, by_default, _WHY_SLOWER_BY_DEFAULT)
                      + _growth_claims(of, by_default,
                                       _WHY_SLOWER_BY_DEFAULT))
    return found + _cost_claim(
        row for by_tail in sizes.values() for rows in by_tail.values()
        for row in done(rows))
