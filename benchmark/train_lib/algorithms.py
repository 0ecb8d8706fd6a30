# SPDX-License-Identifier: Apache-2.0
"""The known allreduces, and the variables that select one for a script."""
from front_end import preload

PLAIN = "gloo"  # without this project's library

# Their names in GLOO_ALGO.
_PRELOADED = ("ring", "bcube", "halving_doubling", "transpose",
              "hierarchical_transpose", "optireduce",
              "hierarchical_optireduce")
# optireduce:POLICY, as in benchmark/compare.
_REPAIRED = tuple(f"optireduce:{policy}"
                  for policy in ("none", "broadcast", "both"))

KNOWN = (PLAIN, *_PRELOADED, *_REPAIRED)


def bounded(algorithm: str) -> bool:
    """Whether the algorithm may lose data."""
    return "optireduce" in algorithm


def variables(algorithm: str, library: str | None,
              preloaded: str = "") -> dict[str, str]:
    """Environment variables that make any script with backend="gloo" use
    `algorithm`. `library` is None for PLAIN; `preloaded` is preloaded, too.
    """
    if algorithm == PLAIN:
        return {}
    assert library is not None
    name, _, policy = algorithm.partition(":")
    repair = {"GLOO_UBT_REPAIR": policy} if policy else {}
    return preload.variables(library, name, preloaded) | repair
