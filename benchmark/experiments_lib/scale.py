# SPDX-License-Identifier: Apache-2.0
"""Many ranks, in the simulator."""
from collections.abc import Callable, Mapping, Sequence
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
_ENOUGH = 1.3  # so much longer may the p99 of most ranks be than of fewest
_WHY_NO_FASTER = """\
the more bytes, the more of the time is what a link takes for them, whoever
sends, and the less what its way takes besides."""
_WHY_GROWS = """\
a stage waits for the slowest of all ways to a rank, and of more ways the
slowest is slower. With 4 MB and 1,024 ranks a shard is one packet, too, so that
no sum can go out before nearly all contributions have been sent. Bounds are
learned from what stages take, and allow for that; one set by hand ends it, for
a loss that is told below."""


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


def _burst(environment: str) -> Part:
    return Part(
        f"bursts-{environment}",
        ("benchmark/simulate", "--algorithms", ",".join(_FEW), "--ranks",
         "8,32,128", "--lab", environment, "--ops", "30"), 50,
        says_failures=True)


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
        _ways("1024", 2, 2, 420, 32),
        _ways("8,32,128", 4, 6, 80, elements=_LARGE_FLOATS, algorithms=_FEW),
        _ways("1024", 1, 1, 560, elements=_LARGE_FLOATS, algorithms=_FEW),
        *(_ways("8,64", 20, 30, 25, gbit=gbit, tails=_LONG_TAIL)
          for gbit in (10, 400)),
        _otherwise(_WINDOW, _DEFAULT_WINDOW),
        _otherwise(_BY_HAND, _LARGE_WINDOW, "--bound", str(_BOUND_US)),
        *map(_burst, _BURSTS)]


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
         "iterations", "to simulate: CPU s", "GB"),
        [(_label(row), str(row["ranks"]), number(row["p50_ms"]),
          number(row["p99_ms"]), share(row["loss_fraction"]),
          str(row["iterations"]), number(row["cpu_seconds"]),
          number(row["peak_bytes"] / 1e9)) for row in rows])


def _label(row: Mapping) -> str:
    name = row["algorithm"]
    return (f"{name}, {row['groups']} groups"
            if name == "hierarchical_transpose" else name)


def _growths(rows: Sequence[Mapping], key: str) -> dict[int, float]:
    """The bounded one's time, of what it is with fewest ranks, by ranks."""
    own = sorted((row for row in rows if row["algorithm"] == _BOUNDED),
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


def _network_of(row: Mapping) -> tuple[float, float, int]:
    return row["gbit"], row["tail"], row["elements"]


def _name_of(gbit: float, tail: float, elements: int) -> str:
    return (f"{gbit:g} Gbit/s, {4 * elements / 1e6:g} MB, ways with a P99/50 "
            f"of {tail:g}")


def _simulated(results: Results) -> dict[tuple[float, float, int],
                                         list[Mapping]]:
    """What did not fail of the ways, by network."""
    networks: dict[tuple[float, float, int], list[Mapping]] = {}
    for name, rows in results.items():
        for row in rows:
            if name.startswith("ways-") and row["failed"] is None:
                networks.setdefault(_network_of(row), []).append(row)
    return dict(sorted(networks.items()))


def _otherwise_told(title: str, why: str, rows: Sequence[Mapping],
                    usual: Sequence[Mapping]) -> str:
    """Jobs with other settings, beside the `usual` ones."""
    if not rows:
        return ""
    middles = {row["ranks"]: row["p50_ms"] for row in usual
               if row["algorithm"] == _BOUNDED}
    told = ", ".join(f"{row['p50_ms'] / middles[row['ranks']]:.2f} "
                     f"({row['ranks']} ranks)" for row in rows
                     if row["ranks"] in middles)
    return (f"### {title}\n\n{why}\n\n" + _table(rows) + _growth(rows)
            + (f"Of the p50 above that is {told}.\n\n" if told else ""))


def _section(name: str, title: str, rows: Sequence[Mapping],
             pictures: Pictures) -> str:
    rows = sorted(rows, key=lambda row: (
        _POWERS.index(row["algorithm"]), row["ranks"]))
    return (f"### {title}\n\n" + pictures.draw(
        f"scale-{name}", title, [("p50", _curves(rows, "p50_ms")),
                                 (_slowest(rows), _curves(rows, "p99_ms"))])
            + "\n" + _table(rows) + _growth(rows))


def _tell(results: Results, pictures: Pictures) -> str:
    networks = _simulated(results)
    text = "".join(
        _section(f"{gbit:g}-{tail:g}-{elements}",
                 _name_of(gbit, tail, elements), rows, pictures)
        for (gbit, tail, elements), rows in networks.items())
    usual = networks.get((_GBIT, float(_LONG_TAIL), _FLOATS), [])
    done = {name: [row for row in rows if row["failed"] is None]
            for name, rows in results.items()}
    network = _name_of(_GBIT, float(_LONG_TAIL), _FLOATS)
    text += _otherwise_told(
        "The default's window", "With all senders together at most 2 MiB on "
        "their way to a rank, as GLOO_UBT_WINDOW_BYTES has it if not set "
        "(above: 16 MiB), the more ranks, the more often each waits for leave "
        f"to go on. {network}:", done.get(_WINDOW, []), usual)
    text += _otherwise_told(
        "A bound set by hand", f"A learned bound is above what a stage takes in "
        f"the middle. This one, {_BOUND_US} us for each stage, is below. "
        f"{network}:", done.get(_BY_HAND, []), usual)
    for environment in _BURSTS:
        rows = done.get(f"bursts-{environment}")
        if rows:
            text += _section(f"bursts-{environment}", "500 Mbit/s, the lab's "
                             f"bursts of {environment}", rows, pictures)
    for rows in results.values():
        for row in rows:
            if row["failed"] is not None:
                text += (f"{row['algorithm']} with {row['ranks']} ranks "
                         f"failed: {row['failed']}.\n\n")
    return text


def _speed(rows: Sequence[Mapping], others: Sequence[str]) -> float | None:
    """Of the bounded one with fewest ranks, the fastest of the others' 1."""
    fewest = min(row["ranks"] for row in rows)
    times = {row["algorithm"]: row["mean_ms"] for row in rows
             if row["ranks"] == fewest}
    found = [times[name] for name in others if name in times]
    return (min(found) / times[_BOUNDED]
            if found and _BOUNDED in times else None)


def _claims(results: Results) -> list[Claim]:
    networks = {network: rows for network, rows in
                _simulated(results).items() if network[0] == _GBIT}
    claims = []
    for elements in dict.fromkeys(key[2] for key in networks):
        own = {tail: rows for (_, tail, floats), rows in networks.items()
               if floats == elements}
        what = (f"{4 * elements / 1e6:g} MB, simulated at "
                f"{_GBIT} Gbit/s: ")
        for name, others, asked in (("ring's", ("ring",), _THAN_RING),
                                    ("NCCL's", _NCCL, _THAN_NCCL)):
            speeds = {tail: speed for tail, rows in own.items()
                      if (speed := _speed(rows, others)) is not None}
            if speeds:
                claims.append(Claim(
                    f"{what}speed of an allreduce of 8 ranks, {name} of 1",
                    f"{asked} (papers, of trainings)", _by_tail(speeds),
                    min(speeds.values()) >= asked, _WHY_NO_FASTER))
        growths = {tail: max(growth.values()) for tail, rows in own.items()
                   if len(growth := _growths(rows, "p99_ms")) > 1}
        if growths:
            claims.append(Claim(
                f"{what}growth of the slowest from fewest to most ranks",
                f"at most {_ENOUGH}", _by_tail(growths),
                max(growths.values()) <= _ENOUGH, _WHY_GROWS))
    return claims


def _by_tail(values: Mapping[float, float]) -> str:
    return ", ".join(f"{value:.2f} (P99/50 of {tail:g})"
                     for tail, value in values.items())


EXPERIMENT = Experiment(
    "scale", "Many ranks (simulated)",
    "How does each algorithm do as ranks grow more? Simulated: ways between "
    "ranks take 50 us in the middle and have a tail, drawn anew for each pair "
    "every 2 ms; or the lab's links and bursts. optireduce is the protocol "
    "itself; the others, NCCL's ring and tree among them, have ideal "
    "connections, which lose and repeat nothing and share links evenly, so "
    "that they do better here than over TCP, and begin each allreduce "
    "together. Bounds are learned from fewer ops the more ranks there are, and "
    "the fewer are told. Gloo's bcube, of base 2, sends what halving_doubling "
    "does, between other pairs.",
    _parts, _tell, _claims, needs_root=False)
