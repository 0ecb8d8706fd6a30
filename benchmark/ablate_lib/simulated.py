# SPDX-License-Identifier: Apache-2.0
"""Jobs in the simulator: virtual time, and no noise except by the seed."""
from collections.abc import Mapping

from lab_lib.environments import Environment
from simulate_lib import lab
from simulate_lib.simulator import TARGET, WARMUP_OPS

from .run import Run

__all__ = ["TARGET", "options_of", "run_of"]


def options_of(environment: Environment, seed: int, elements: int,
               ops: int) -> dict[str, str]:
    """Options of transport_ubt/sim/sim_options.h, by name, for `ops` bounded
    ops in the lab's environment."""
    options = lab.options_of(environment, seed, elements, ops + WARMUP_OPS)
    return {name: str(value) for name, value in (
        options | {"warmup_ops": WARMUP_OPS}).items()}


def run_of(report: Mapping, options: str) -> Run:
    """The run in a report of `measure`. `options`: as simulator.text_of()."""
    failed = broken = ""
    if report["errors"]:
        failed = report["errors"][0]
    if report["violations"]:
        failed = report["violations"][0]
        broken = (
            "the simulated protocol breaks a promise of docs/semantics.md: "
            f"{failed}. See it again with bazel run //transport_ubt/sim:explore -- "
            f"--replay --options '{options}'")
    return Run(report["op_ms"], report["loss_fraction"],
               report["drift_fraction"], report["mse"], report["worst_se"],
               failed, broken)
