# SPDX-License-Identifier: Apache-2.0
"""The rule that ends stages, replayed over recorded stages next to the best
constant x."""
from collections.abc import Mapping, Sequence

from ..lab.accounts import is_disturbed
from ..lab.environments import ENVIRONMENTS
from ..simulated_network import why_not
from . import figures
from .experiment import REPLAYED, Claim, Experiment, Part, Results
from .page import Page, number, share

# Nothing is left out of the record: losses are repaired.
_ALGORITHM = "optireduce:both+cut_budget=0"
# Data is late there because of the network or of a host that stands still.
_LATE = ("p1.5", "p3", "micro", "stalls1.5", "stalls3", "paused")
_PLACES = ("clean", *_LATE, "lossy", "straggler", "varying", "varying10")
_SEEDS = (11, 12)  # nothing was tuned on these
_SECONDS = 20
_OPS, _QUICK_OPS, _OP_S = 150, 50, 0.05  # simulated
_SCORE_LEAST = 0.8
_SAVING_LEAST = 0.05
_BUDGET = 0.025


def _name(where: str, environment: str, seed: int) -> str:
    return f"{where}-{environment}-seed-{seed}"


def _in_lab(environment: str, seed: int) -> Part:
    part = figures.comparison(_name("lab", environment, seed), environment,
                              (_ALGORITHM,), _SECONDS, seed=seed)
    return _replayed(part.name, part.command, part.seconds)


def _simulated(environment: str, seed: int, ops: int = _OPS) -> Part:
    return _replayed(
        _name("simulated", environment, seed),
        ("benchmark/simulate", "--lab", environment, "--ranks", "8", "--ops",
         str(ops), "--first-seed", str(seed), "--algorithms", _ALGORITHM),
        ops * _OP_S)


def _replayed(name: str, command: Sequence[str], seconds: float) -> Part:
    return Part(name, (*REPLAYED, *command), seconds)


def _simulates(environment: str) -> bool:
    return why_not(ENVIRONMENTS[environment]) is None


def _parts(quick: bool) -> Sequence[Part]:
    if quick:
        return [_simulated("p3", _SEEDS[0], _QUICK_OPS)]
    return [part for seed in _SEEDS for environment in _PLACES
            for part in (_in_lab(environment, seed),
                         *((_simulated(environment, seed),)
                           if _simulates(environment) else ()))]


def _found(results: Results, where: str, environment: str) -> list[Mapping]:
    """The replays of all seeds. Leaves out those of disturbed runs."""
    return [found["replay"] for seed in _SEEDS
            if (found := results.get(_name(where, environment, seed)))
            and not (where == "lab" and is_disturbed(found["row"]))]


def _score(replays: Sequence[Mapping]) -> float | None:
    """The rule's saving of the slowest tenth over that of the best constant
    x, of all seeds together. None: that saves too little to compare."""
    exact, rule, best = (sum(replay[way]["slow_tenth_ms"]
                             for replay in replays)
                         for way in ("exact", "rule", "best_fixed"))
    return ((exact - rule) / (exact - best)
            if exact - best > _SAVING_LEAST * exact else None)


def _mean(replays: Sequence[Mapping], way: str, key: str) -> float:
    return figures.mean(replays, lambda replay: replay[way][key])


def _show(results: Results, page: Page) -> None:
    for where in ("lab", "simulated"):
        rows = []
        for environment in _PLACES:
            replays = _found(results, where, environment)
            if not replays:
                continue
            score = _score(replays)
            rows.append((
                environment, *(
                    number(_mean(replays, way, key))
                    for way in ("exact", "rule", "best_fixed")
                    for key in ("mean_ms", "slow_tenth_ms")),
                share(_mean(replays, "rule", "cut_late")),
                share(_mean(replays, "rule", "cut_absent")),
                number(_mean(replays, "best_fixed", "x")),
                "" if score is None else number(score),
                str(sum(replay["ops"] for replay in replays))))
        if rows:
            page.heading(where)
            page.table(
                ("environment", "exact: mean ms", "slowest tenth", "rule: mean",
                 "slowest tenth", "best x: mean", "slowest tenth",
                 "rule cuts late", "rule cuts absent", "best x", "score",
                 "ops"), rows)


def _claims(results: Results) -> list[Claim]:
    claims = []
    for where in ("lab", "simulated"):
        scores = {name: score for name in _LATE
                  if (replays := _found(results, where, name))
                  and (score := _score(replays)) is not None}
        if scores:
            least = min(scores, key=scores.__getitem__)
            claims.append(Claim(
                "Of the slowest tenth's saving by the best constant x, the "
                f"rule reaches ({where}, where the network or a host is "
                "late)", "",
                f"{_SCORE_LEAST} in each environment, at least",
                f"least {scores[least]:.2f} ({least})",
                scores[least] >= _SCORE_LEAST))
        cuts = {name: _mean(replays, "rule", "cut_late")
                + _mean(replays, "rule", "cut_absent") for name in _PLACES
                if (replays := _found(results, where, name))}
        if cuts:
            most = max(cuts, key=cuts.__getitem__)
            claims.append(Claim(
                f"The rule keeps its budget ({where})", "",
                f"cuts at most {share(_BUDGET)} in each environment",
                f"most {share(cuts[most])} ({most})", cuts[most] <= _BUDGET))
    return claims


EXPERIMENT = Experiment(
    "stops", "The rule that ends stages, and the best constant x", _parts,
    _show, _claims)
