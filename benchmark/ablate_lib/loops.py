# SPDX-License-Identifier: Apache-2.0
"""Every control loop and safeguard, and the settings that switch it off. To
add one, add a row to LOOPS."""
import dataclasses
from collections.abc import Mapping


@dataclasses.dataclass(frozen=True)
class Change:
    """The settings of a variant, for the lab's ranks and for the simulator."""

    lab: Mapping[str, str] = dataclasses.field(default_factory=dict)
    simulator: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def then(self, other: "Change") -> "Change":
        """Both changes; `other` overrides this one."""
        return Change({**self.lab, **other.lab},
                      {**self.simulator, **other.simulator})


HEAVY = 0.3  # least packet loss that judges safeguards
_SAFEGUARD = (HEAVY, 1)

REPAIR = {policy: Change({"GLOO_UBT_REPAIR": policy}, {"repair": str(number)})
          for number, policy in enumerate(("none", "broadcast", "both"))}
_NEVER_HALT = Change({"GLOO_UBT_HALT_LOSS": "0"}, {"halt_loss": "0"})


@dataclasses.dataclass(frozen=True)
class Loop:
    name: str
    what: str  # the loop's effect
    instead: str  # the effect without the loop
    change: Change  # the settings of its variant
    # Settings that the loop needs. Both sides of the comparison have them.
    within: Change = Change()
    # False: off by default, so its variant is the one with the loop.
    is_default: bool = True
    # The least and the largest packet loss of environments that judge it.
    losses: tuple[float, float] = (0, HEAVY)


LOOPS = {loop.name: loop for loop in (
    Loop("bound", "a stage ends at a bound in time, tB",
         "it ends when all is there, by repair, never early",
         Change({"GLOO_UBT_BOUND": "30s", "GLOO_UBT_WARMUP_OPS": "20"},
                {"bound_scatter_ns": "30000000000",
                 "bound_broadcast_ns": "30000000000"}).then(REPAIR["both"])),
    Loop("median", "tB follows the running median",
         "tB is warm-up's 95th percentile",
         Change({"GLOO_UBT_BOUND_MODE": "paper"}, {"bound_mode": "1"})),
    Loop("early", "a stage ends before tB once hardly anything is to come",
         "it waits until tB",
         Change({"GLOO_UBT_EARLY": "off"}, {"early": "0"})),
    Loop("x", "how patient an early end is, x, adapts",
         "x is 10 %",
         Change({"GLOO_UBT_EARLY": "10%"}, {"early_share": "0.1"})),
    Loop("marks", "a stage also ends early once all senders' last slots came",
         "only by the pace of those that lack some",
         Change({"GLOO_UBT_EARLY": "unmarked"}, {"marks": "0"})),
    Loop("window", "what may be under way to a socket adapts",
         "it stays what it begins with",
         Change({"GLOO_UBT_WINDOW": "fixed"}, {"window_adapts": "0"})),
    Loop("trains", "what leaves in one go, and waits in the socket, follows "
         "the link's rate", "as much as any link would need",
         Change({"GLOO_UBT_TRAINS": "fixed"}, {"trains_adapt": "0"})),
    Loop("hadamard", "contributions are transformed while much is lost",
         "never",
         Change({"GLOO_UBT_HADAMARD": "off"}, {"hadamard": "2"})),
    Loop("hadamard-switch", "likewise: only while much is lost",
         "always",
         Change({"GLOO_UBT_HADAMARD": "on"}, {"hadamard": "1"})),
    Loop("repair", "results that are missing at tB are asked for",
         "they are filled in", REPAIR["none"]),
    Loop("fill", "the own contribution stands in for a missing result",
         "zero does",
         Change({"GLOO_UBT_FILL": "zero"}, {"fill": "1"}),
         within=REPAIR["none"]),
    Loop("lead", "a rank may be 4 ops ahead of the slowest", "1 op",
         Change({"GLOO_UBT_LEAD_OPS": "1"}, {"lead_ops": "1"})),
    Loop("results-first", "no rank begins an op while others wait for its "
         "results of the last", "it does",
         Change({"GLOO_UBT_RESULTS_FIRST": "off"}, {"results_first": "0"})),
    Loop("multicast", "results go out once, to all",
         "switched on, with auth full (it is off unless asked for)",
         Change({"GLOO_UBT_MULTICAST": "auto", "GLOO_UBT_AUTH": "full"},
                {"multicast": "1"}),
         is_default=False),
    Loop("zero-loss", "an owner that lacks more than half sends zeros",
         "it sends what it has",
         Change({"GLOO_UBT_ZERO_LOSS": "0"}, {"zero_loss": "0"}),
         within=_NEVER_HALT, losses=_SAFEGUARD),
    Loop("skip-loss", "a call that lacks more than a twentieth is skipped",
         "switched on (it is off unless asked for)",
         Change({"GLOO_UBT_SKIP_LOSS": "0.05"}, {"skip_loss": "0.05"}),
         is_default=False, losses=(0.01, HEAVY)),
    Loop("halt-loss", "a rank that lacks nine tenths for long halts the job",
         "it goes on",
         _NEVER_HALT, losses=_SAFEGUARD),
)}
