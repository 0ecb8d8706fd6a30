# SPDX-License-Identifier: Apache-2.0
"""Many ranks, in the simulator."""
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import in_lab
from .experiment import Experiment, Part
from .markdown import number, share, table
from .pictures import Pictures, colour

_BOUNDED = "optireduce:none"
_POWERS = ("ring", "halving_doubling", "tree", "transpose",
           "hierarchical_transpose", _BOUNDED)
_TAILS, _LONG_TAIL = "1.5,3", "3"
_BURSTS = ("p3", "micro")
_ENOUGH = 1.3  # so much longer may the p99 of most ranks be than of fewest
_LARGE, _WINDOW = "large", "window"


def _ways(ranks: str, warmup: int, ops: int, seconds: float, groups: int = 4,
          elements: int = 1000000, gbit: float = 100,
          tails: str = _TAILS) -> Part:
    first = ranks.partition(",")[0]
    return Part(
        f"ways-{gbit:g}-from-{first}",
        ("benchmark/simulate", "--algorithms", ",".join(_POWERS),
         "--ranks", ranks, "--groups", str(groups),
         "--elements", str(elements),
         "--tail", tails, "--every", "2", "--gbit", f"{gbit:g}", "--warmup",
         str(warmup), "--ops", str(ops)), seconds,
        says_failures=True)


def _burst(environment: str) -> Part:
    return Part(
        f"bursts-{environment}",
        ("benchmark/simulate", "--algorithms",
         ",".join(("ring", "tree", "transpose", _BOUNDED)), "--ranks",
         "8,16,32", "--lab", environment, "--ops", "60"), 60,
        says_failures=True)


def _large() -> Part:
    return Part(
        _LARGE,
        ("benchmark/simulate", "--algorithms",
         ",".join(("ring", "tree", "transpose", _BOUNDED)), "--ranks", "1024",
         "--elements", "6250000", "--tail", "1.5", "--every", "2", "--gbit",
         "100", "--warmup", "1", "--ops", "1"), 430,
        says_failures=True)


def _window() -> Part:
    return Part(
        _WINDOW,
        ("benchmark/simulate", "--algorithms", _BOUNDED, "--ranks",
         "8,64,128", "--elements", "1000000", "--tail", _LONG_TAIL,
         "--every", "2", "--gbit", "100", "--window", "8388608",
         "--warmup", "20", "--ops", "30"), 60,
        says_failures=True)


def _parts(quick: bool) -> Sequence[Part]:
    if quick:
        return [_ways("8,32", 10, 10, 12, elements=250000)]
    return [
        _ways("8,16,32,64,128", 20, 30, 160), _ways("256,512", 6, 10, 300, 16),
        _ways("1024", 2, 4, 430, 32),
        *(_ways("8,64", 20, 30, 40, gbit=gbit, tails=_LONG_TAIL)
          for gbit in (10, 400)),
        _window(), *map(_burst, _BURSTS), _large()]


def _curves(rows: Sequence[Mapping], key: str) -> Callable[[Any], None]:
    def paint(axis: Any) -> None:
        for name in _POWERS:
            own = [row for row in rows if row["algorithm"] == name]
            if own:
                axis.plot([row["ranks"] for row in own],
                          [row[key] for row in own], marker=".", label=name,
                          color=colour(name))
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.xaxis.set_major_formatter("{x:g}")
        axis.set_xlabel("ranks")
        axis.set_ylabel("ms")
    return paint


def _slowest(rows: Sequence[Mapping]) -> str:
    """What to call the last percentile of so few."""
    enough = all(row["iterations"] >= in_lab.FOR_P99 for row in rows)
    return "p99" if enough else "slowest"


def _table(rows: Sequence[Mapping]) -> str:
    return table(
        ("algorithm", "ranks", "p50 ms", f"{_slowest(rows)} ms", "lost",
         "iterations"),
        [(_label(row), str(row["ranks"]), number(row["p50_ms"]),
          number(row["p99_ms"]), share(row["loss_fraction"]),
          str(row["iterations"])) for row in rows])


def _label(row: Mapping) -> str:
    name = row["algorithm"]
    return (f"{name}, {row['groups']} groups"
            if name == "hierarchical_transpose" else name)


def _growth(rows: Sequence[Mapping]) -> str:
    """How the bounded one's times grow."""
    own = [row for row in rows if row["algorithm"] == _BOUNDED]
    if len(own) < 2:
        return ""

    middles, slowest = ({row["ranks"]: row[key] / own[0][key] for row in own}
                        for key in ("p50_ms", "p99_ms"))

    def times(growth: Mapping[int, float]) -> str:
        most = max(growth, key=lambda ranks: growth[ranks])
        return (f"{number(growth[own[-1]['ranks']])} times, at most "
                f"{number(growth[most])} times ({most} ranks)")

    enough = max(*middles.values(), *slowest.values()) <= _ENOUGH
    return (f"{_BOUNDED} with {own[-1]['ranks']} ranks, of what it takes with "
            f"{own[0]['ranks']}: in the middle {times(middles)}; the slowest "
            f"of {own[-1]['iterations']}, for one of "
            f"{own[0]['iterations']}, {times(slowest)}. That is "
            f"{'within' if enough else 'more than'} the {_ENOUGH} hoped "
            "for.\n\n")


def _window_matters(results: Mapping[str, Any]) -> str:
    """What a larger window does to the same jobs."""
    small = {row["ranks"]: row for name, rows in results.items()
             if name.startswith("ways-100-") for row in rows
             if row["algorithm"] == _BOUNDED and row["tail"] == float(
                 _LONG_TAIL)}
    large = {row["ranks"]: row for row in results[_WINDOW]}
    told = [f"{number(large[ranks]['p50_ms'] / small[ranks]['p50_ms'])} "
            f"({ranks} ranks)" for ranks in large if ranks in small]
    return (f"Of the p50 with 2 MiB that is {', '.join(told)}.\n\n"
            if told else "")


def _section(name: str, title: str, rows: Sequence[Mapping],
             pictures: Pictures) -> str:
    rows = sorted(rows, key=lambda row: (
        _POWERS.index(row["algorithm"]), row["ranks"]))
    return (f"### {title}\n\n" + pictures.draw(
        f"scale-{name}", title, [("p50", _curves(rows, "p50_ms")),
                                 (_slowest(rows), _curves(rows, "p99_ms"))])
            + "\n" + _table(rows) + _growth(rows))


def _tell(results: Mapping[str, Any], pictures: Pictures) -> str:
    tails: dict[tuple[float, float], list[Mapping]] = {}
    text = ""
    failed = [row for rows in results.values() for row in rows
              if row["failed"] is not None]
    results = {name: [row for row in rows if row["failed"] is None]
               for name, rows in results.items()}
    for name, rows in results.items():
        if name.startswith("ways-"):
            for row in rows:
                tails.setdefault((row["gbit"], row["tail"]), []).append(row)
    for (gbit, tail), rows in tails.items():
        text += _section(
            f"tail-{tail:g}-{gbit:g}",
            f"{gbit:g} Gbit/s, ways with a P99/50 of {tail:g}", rows, pictures)
    if results.get(_WINDOW):
        text += ("### A larger window\n\n"
                 "The more ranks, the less each may have under way to one of "
                 "them before it waits for leave to go on. With a window of "
                 "8 MiB in place of 2, at 100 Gbit/s with a P99/50 of 3:\n\n"
                 + _table(results[_WINDOW]) + _growth(results[_WINDOW])
                 + _window_matters(results))
    for environment in _BURSTS:
        rows = results.get(f"bursts-{environment}")
        if rows:
            text += _section(f"bursts-{environment}", "500 Mbit/s, the lab's "
                             f"bursts of {environment}", rows, pictures)
    if results.get(_LARGE):
        text += "### 1,024 ranks, 25 MB\n\n" + table(
            ("algorithm", "p50 ms", "lost", "iterations",
             "to simulate: CPU s", "GB"),
            [(row["algorithm"], number(row["p50_ms"]),
              share(row["loss_fraction"]), str(row["iterations"]),
              number(row["cpu_seconds"]), number(row["peak_bytes"] / 1e9))
             for row in results[_LARGE]])
    for row in failed:
        text += (f"{row['algorithm']} with {row['ranks']} ranks failed: "
                 f"{row['failed']}.\n\n")
    return text


EXPERIMENT = Experiment(
    "scale", "Many ranks (simulated)",
    "How does each algorithm do as ranks grow more? Simulated: ways between "
    "ranks take 50 us in the middle and have a tail, drawn anew for each pair "
    "every 2 ms; or the lab's links and bursts. optireduce is the protocol "
    "itself; the others, NCCL's ring and tree among them, have ideal "
    "connections, which lose and repeat nothing, so that they do better here "
    "than over TCP. Bounds are learned from 20 ops; of 256 and 512 ranks from "
    "6, of 1,024 from 2. Gloo's bcube, of base 2, sends what halving_doubling "
    "does, between other pairs.",
    _parts, _tell, needs_root=False)
