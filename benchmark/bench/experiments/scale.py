# SPDX-License-Identifier: Apache-2.0
"""Many ranks, in the simulator."""
import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from .. import plot
from . import figures
from .experiment import Claim, Experiment, Part, Results
from .page import Page, number, share

_BOUNDED, _DEFAULT = "optireduce:none", "optireduce"
_OURS = (_BOUNDED, _DEFAULT)
_POWERS = ("ring", "halving_doubling", "tree", "transpose",
           "hierarchical_transpose", *_OURS)
_FEW = ("ring", "tree", "transpose", *_OURS)
_DRAWN = ("ring", "halving_doubling", "tree", "transpose", _BOUNDED)
_TAILS, _LONG_TAIL = "1.5,3", "3"
_BURSTS = ("p3", "micro")
_FLOATS, _LARGE_FLOATS = 1000000, 6250000  # 4 MB; PyTorch's 25 MB
_GBIT = 100  # of a fast link
# Parts that change one setting: a bound set by hand, of each stage; hosts that
# look for packets at once.
_BY_HAND, _AT_ONCE = "by-hand", "at-once"
_BOUND_US = 400
# The papers' speed-ups of trainings over ring and over NCCL.
_THAN = (("Gloo's ring", ("ring",), 1.7),
         ("NCCL's ring and tree", ("ring", "tree"), 1.3))
_FEWEST, _SEEDS = 8, 10  # ranks; seeds that they have
# This project's goals and their bounds. By floats and tail: the mean time of
# each of _THAN over the default's.
_GOALS = {(_FLOATS, 3.0): ((1.85, 1.95), (1.27, 1.33)),
          (_LARGE_FLOATS, 1.5): ((1.21, 1.23), (1.18, 1.20))}
# The default's mean time over the exact transpose's, up to this many ranks.
_TRANSPOSE_MOST, _TRANSPOSE_RANKS = 0.95, 256
# The median with the most ranks over that with the fewest, with _BOUNDED.
_GROWTH_MOST = 1.3


def _simulate(name: str, algorithms: Sequence[str], ranks: str, warmup: int,
              ops: int, seconds: float, *network: str,
              more: Sequence[str] = ()) -> Part:
    return Part(
        name, ("benchmark/simulate", "--algorithms", ",".join(algorithms),
               "--ranks", ranks, *network, "--warmup", str(warmup), "--ops",
               str(ops), *more), seconds, says_failures=True)


def _paths(elements: int, tails: str, gbit: float) -> tuple[str, ...]:
    return ("--elements", str(elements), "--tail", tails, "--every", "2",
            "--gbit", f"{gbit:g}")


def _ways(ranks: str, warmup: int, ops: int, seconds: float, groups: int = 4,
          elements: int = _FLOATS, gbit: float = _GBIT, tails: str = _TAILS,
          algorithms: Sequence[str] = _POWERS, seeds: int = 1) -> Part:
    size = "" if elements == _FLOATS else f"-{elements}-floats"
    return _simulate(
        f"ways-{gbit:g}-from-{ranks.partition(',')[0]}{size}", algorithms,
        ranks, warmup, ops, seconds, "--groups", str(groups),
        *_paths(elements, tails, gbit),
        more=("--seeds", str(seeds)) if seeds > 1 else ())


def _bursts(environment: str) -> Sequence[Part]:
    return [_simulate(f"bursts-{environment}-from-{ranks.partition(',')[0]}",
                      _FEW, ranks, warmup, ops, seconds, "--lab", environment)
            for ranks, warmup, ops, seconds in (
                ("8,32", 20, 60, 39), ("128", 5, 6, 81))]


def _otherwise(name: str, *more: str, ranks: str = "8,64,128",
               warmup: int = 20, ops: int = 20, seconds: float = 45) -> Part:
    """A part with other settings for some of the `ways` jobs."""
    return _simulate(name, (_BOUNDED,), ranks, warmup, ops, seconds,
                     *_paths(_FLOATS, _LONG_TAIL, _GBIT), more=more)


def _parts(quick: bool) -> Sequence[Part]:
    if quick:
        return [_ways("8,32", 10, 10, 12, elements=250000)]
    return [
        _ways(str(_FEWEST), 20, 40, 40, seeds=_SEEDS),
        _ways("16,32,64,128", 20, 40, 300), _ways("256", 20, 40, 900, 16),
        _ways("512", 3, 4, 200, 16), _ways("1024", 2, 1, 450, 32),
        _ways(str(_FEWEST), 20, 20, 100, elements=_LARGE_FLOATS,
              algorithms=_FEW, seeds=_SEEDS),
        *(_ways(ranks, 20, ops, seconds, elements=_LARGE_FLOATS,
                algorithms=_FEW)
          for ranks, ops, seconds in (("32", 20, 150), ("128", 10, 1500))),
        *(_ways("8,64", 20, 20, 30, gbit=gbit, tails=_LONG_TAIL)
          for gbit in (10, 400)),
        _otherwise(_BY_HAND, "--bound", str(_BOUND_US)),
        _otherwise(f"{_BY_HAND}-from-512", "--bound", str(_BOUND_US),
                   ranks="512", warmup=3, ops=4, seconds=72),
        _otherwise(_AT_ONCE, "--looks", "0"),
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


def _growth(rows: Sequence[Mapping], key: str) -> str:
    """The bounded algorithm's time relative to that with the fewest ranks."""
    own = sorted((row for row in rows if row["algorithm"] == _BOUNDED),
                 key=lambda row: row["ranks"])
    most = max(own, key=lambda row: row[key])
    least = own[0][key]
    return (f"{own[-1][key] / least:.2f}x, at most {most[key] / least:.2f}x "
            f"({most['ranks']} ranks)")


def _label(row: Mapping) -> str:
    name = row["algorithm"]
    return (f"{name}, {row['groups']} groups"
            if name == "hierarchical_transpose" else name)


def _title(row: Mapping) -> str:
    return (f"{row['gbit']:g} Gbit/s, {4 * row['elements'] / 1e6:g} MB, paths "
            f"with a P99/50 of {row['tail']:g}")


def _table(rows: Sequence[Mapping], page: Page) -> None:
    """The rows, and how the bounded algorithm's times grow."""
    rows = sorted(rows, key=lambda row: (
        _POWERS.index(row["algorithm"]), row["ranks"]))
    last = "p99" if figures.have_p99(rows) else "slowest"
    page.table(
        ("algorithm", "ranks", "p50 ms", f"{last} ms", "missing", "iterations",
         "to simulate: CPU s", "GB"),
        [(_label(row), str(row["ranks"]), number(row["p50_ms"]),
          number(row["p99_ms"]), share(row["loss_fraction"]),
          str(row["iterations"]), number(row["cpu_seconds"]),
          number(row["peak_bytes"] / 1e9)) for row in rows])
    ranks = {row["ranks"] for row in rows if row["algorithm"] == _BOUNDED}
    if len(ranks) > 1:
        page.line(f"{_BOUNDED} with {max(ranks)} ranks, relative to "
                  f"{min(ranks)}: median {_growth(rows, 'p50_ms')}; {last} "
                  f"{_growth(rows, 'p99_ms')}.")


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


def _show(results: Results, page: Page) -> None:
    networks = {key: own for key, rows in _by_network(results).items()
                if (own := _done(rows))}
    bursts = {environment: rows for environment in _BURSTS
              if (rows := _done(_of_parts(results, f"bursts-{environment}-")))}
    if networks:
        page.picture("scale", "Times by number of ranks", [
            (f"{4 * elements / 1e6:g} MB, P99/50 of {tail:g}", _panel(rows))
            for (gbit, tail, elements), rows in networks.items()
            if gbit == _GBIT], columns=2)
    if bursts:
        page.picture("scale-bursts", "Times by number of ranks, among bursts",
                     [(environment, _panel(rows))
                      for environment, rows in bursts.items()], columns=2)
    for rows in networks.values():
        page.heading(_title(rows[0]))
        _table(rows, page)
    for begin, title in ((_BY_HAND, f"With a bound of {_BOUND_US} us for each "
                          "stage, set by hand"),
                         (_AT_ONCE, "With hosts that look at once")):
        rows = _done(_of_parts(results, begin))
        if rows:
            page.heading(f"{title}: {_title(rows[0])}")
            _table(rows, page)
    for environment, rows in bursts.items():
        page.heading(f"500 Mbit/s, the lab's bursts of {environment}")
        _table(rows, page)
    for row in _of_parts(results, ""):
        if row["failed"] is not None:
            page.line(f"{row['algorithm']} with {row['ranks']} ranks failed: "
                      f"{row['failed']}.")


def _time(rows: Iterable[Mapping], ranks: int,
          names: Sequence[str]) -> float | None:
    """The least mean time of these algorithms; None: one was not
    simulated."""
    times = {row["algorithm"]: row["mean_ms"] for row in _done(rows)
             if row["ranks"] == ranks}
    return min(times[name] for name in names) if times.keys() >= set(
        names) else None


@dataclasses.dataclass(frozen=True)
class _SpeedUp:
    """With the fewest ranks, over the fastest of some algorithms."""

    value: float
    by_seed: Sequence[float]

    def told(self, *more: str) -> str:
        """With its range over seeds, and with `more` in the parentheses."""
        if len(self.by_seed) > 1:
            more += (f"{min(self.by_seed):.3f} to {max(self.by_seed):.3f} with "
                     "single seeds",)
        return f"{self.value:.4f}" + (f" ({'; '.join(more)})" if more else "")


def _speed_up(rows: Sequence[Mapping], others: Sequence[str],
              own: str) -> _SpeedUp | None:
    """None: not simulated."""
    def ratio(rows: Sequence[Mapping]) -> float | None:
        other, ours = (_time(rows, _FEWEST, names)
                       for names in (others, (own,)))
        return other / ours if other and ours else None

    seeds: dict[int, list[Mapping]] = {}
    for row in rows:
        for of_seed in row["by_seed"]:
            seeds.setdefault(of_seed["seed"], []).append({**row, **of_seed})
    value = ratio(rows)
    return None if value is None else _SpeedUp(
        value, [found for own_rows in seeds.values()
                if (found := ratio(own_rows)) is not None])


def _size(elements: int) -> str:
    return f"{4 * elements / 1e6:g} MB at {_GBIT} Gbit/s"


def _papers_claims(elements: int,
                   by_tail: Mapping[float, Sequence[Mapping]]) -> list[Claim]:
    claims = []
    for whose, others, papers in _THAN:
        found = {tail: ratio for tail, rows in by_tail.items()
                 if (ratio := _speed_up(rows, others, _BOUNDED)) is not None}
        if found:
            claims.append(Claim(
                f"Speed-up of an allreduce of {_size(elements)} over {whose}, "
                f"{_FEWEST} ranks, simulated", f"{papers} (of trainings)",
                f"{papers} with each tail",
                ", ".join(ratio.told(f"P99/50 of {tail:g}")
                          for tail, ratio in found.items()),
                min(ratio.value for ratio in found.values()) >= papers))
    return claims


def _own_claims(elements: int, tail: float,
                rows: Sequence[Mapping]) -> list[Claim]:
    claims = []
    for (whose, others, _), (goal, bound) in zip(
            _THAN, _GOALS.get((elements, tail), ())):
        found = _speed_up(rows, others, _DEFAULT)
        if found is not None:
            claims.append(Claim(
                f"Speed-up of the default over {whose}, {_size(elements)}, "
                f"P99/50 of {tail:g}, {_FEWEST} ranks, simulated", "",
                figures.told_goal(goal, bound), found.told(),
                found.value >= goal))
    ratios = {}
    for ranks in sorted({row["ranks"] for row in rows}):
        own, exact = (_time(rows, ranks, (name,))
                      for name in (_DEFAULT, "transpose"))
        if own and exact and ranks <= _TRANSPOSE_RANKS:
            ratios[ranks] = own / exact
    if ratios:
        claims.append(Claim(
            "Mean time of the default over the exact transpose's, "
            f"{_size(elements)}, P99/50 of {tail:g}, simulated", "",
            f"at most {_TRANSPOSE_MOST}",
            ", ".join(f"{ratio:.3f} ({ranks} ranks)"
                      for ranks, ratio in ratios.items()),
            max(ratios.values()) <= _TRANSPOSE_MOST))
    return claims


def _growth_claims(elements: int,
                   by_tail: Mapping[float, Sequence[Mapping]]) -> list[Claim]:
    found = {}
    for tail, rows in by_tail.items():
        own = {row["ranks"]: row["p50_ms"] for row in _done(rows)
               if row["algorithm"] == _BOUNDED}
        if len(own) > 1:
            found[tail] = own[max(own)] / own[min(own)], max(own)
    return [Claim(
        f"Growth of the median with the ranks, {_BOUNDED}, {_size(elements)}, "
        "simulated", "", f"at most {_GROWTH_MOST}",
        ", ".join(f"{ratio:.3f} ({ranks} ranks, P99/50 of {tail:g})"
                  for tail, (ratio, ranks) in found.items()),
        max(ratio for ratio, _ in found.values()) <= _GROWTH_MOST)
    ] if found else []


def _claims(results: Results) -> list[Claim]:
    sizes: dict[int, dict[float, Sequence[Mapping]]] = {}
    for (gbit, tail, elements), rows in _by_network(results).items():
        if gbit == _GBIT:
            sizes.setdefault(elements, {})[tail] = rows
    return [claim for elements, by_tail in sizes.items() for claim in (
        *_papers_claims(elements, by_tail), *_growth_claims(elements, by_tail),
        *(claim for tail, rows in by_tail.items()
          for claim in _own_claims(elements, tail, rows)))]


EXPERIMENT = Experiment("scale", "Many ranks (simulated)", _parts, _show,
                        _claims)
