# SPDX-License-Identifier: Apache-2.0
"""Which allreduces there are, and how a training script gets one."""
from front_end import preload

PLAIN = "gloo"  # without this project's library

# As the library knows them in GLOO_ALGO.
_PRELOADED = ("ring", "bcube", "halving_doubling", "transpose",
              "hierarchical_transpose", "optireduce",
              "hierarchical_optireduce")
# optireduce:POLICY, as benchmark/compare has it.
_REPAIRED = tuple(f"optireduce:{policy}"
                  for policy in ("none", "broadcast", "both"))

KNOWN = (PLAIN, *_PRELOADED, *_REPAIRED)


def bounded(algorithm: str) -> bool:
    """Whether it may lose something."""
    return "optireduce" in algorithm


def variables(algorithm: str, library: str | None,
              preloaded: str = "") -> dict[str, str]:
    """Environment variables that make any script with backend="gloo" use
    `algorithm`. `library` is none for PLAIN; `preloaded` is preloaded too.
    """
    if algorithm == PLAIN:
        return {}
    assert library is not None
    name, _, policy = algorithm.partition(":")
    repair = {"GLOO_UBT_REPAIR": policy} if policy else {}
    return preload.variables(library, name, preloaded) | repair
