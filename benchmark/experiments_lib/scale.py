# SPDX-License-Identifier: Apache-2.0
"""Many ranks, in the simulator."""
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .experiment import Experiment, Part
from .markdown import number, share, table
from .pictures import Pictures, colour

_BOUNDED = "optireduce:none"
_ALGORITHMS = ("ring", "halving_doubling", "tree", "transpose", _BOUNDED)
_TAILS = ("1.5", "3")


def _part(tail: str, ranks: str, elements: int, seconds: float) -> Part:
    return Part(
        f"tail-{tail}",
        ("benchmark/simulate", "--algorithms", ",".join(_ALGORITHMS),
         "--ranks", ranks, "--elements", str(elements), "--tail", tail,
         "--latency", "200", "--every", "2"), seconds)


def _parts(quick: bool) -> Sequence[Part]:
    if quick:
        return [_part(tail, "8,32", 250000, 10) for tail in _TAILS]
    return [_part(tail, "8,16,32,64,128", 1000000, 240) for tail in _TAILS]


def _curves(rows: Sequence[Mapping], key: str) -> Callable[[Any], None]:
    def paint(axis: Any) -> None:
        for name in _ALGORITHMS:
            own = [row for row in rows if row["algorithm"] == name]
            axis.plot([row["ranks"] for row in own],
                      [row[key] for row in own], marker=".", label=name,
                      color=colour(name))
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.xaxis.set_major_formatter("{x:g}")
        axis.set_xlabel("ranks")
        axis.set_ylabel("ms")
    return paint


def _tell(results: Mapping[str, Any], pictures: Pictures) -> str:
    text = ""
    for name, rows in results.items():
        rows = [row for row in rows if row["failed"] is None]
        tail = name.partition("-")[2]
        text += f"### Ways with a P99/50 of {tail}\n\n"
        text += pictures.draw(
            f"scale-{tail}", f"Times by ranks, ways' P99/50 {tail}",
            [("p50", _curves(rows, "p50_ms")),
             ("p99", _curves(rows, "p99_ms"))]) + "\n"
        text += table(
            ("algorithm", "ranks", "p50 ms", "p99 ms", "lost", "iterations"),
            [(row["algorithm"], str(row["ranks"]), number(row["p50_ms"]),
              number(row["p99_ms"]), share(row["loss_fraction"]),
              str(row["iterations"])) for row in rows])
        bounded = [row for row in rows if row["algorithm"] == _BOUNDED]
        if len(bounded) > 1:
            first, last = bounded[0], bounded[-1]
            text += (f"{_BOUNDED}'s p99 with {last['ranks']} ranks is "
                     f"{number(last['p99_ms'] / first['p99_ms'])} times that "
                     f"with {first['ranks']}.\n\n")
    return text


EXPERIMENT = Experiment(
    "scale", "Many ranks (simulated)",
    "How does each algorithm do as ranks grow more, where ways between ranks "
    "have a tail? Simulated: links of 10 Gbit/s, ways of 200 us in the middle, "
    "drawn anew for each pair of ranks every 2 ms. optireduce is the protocol "
    "itself; the others have ideal connections, which lose and repeat nothing, "
    "so that they do better here than over TCP.",
    _parts, _tell, needs_root=False)
