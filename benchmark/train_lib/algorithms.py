# SPDX-License-Identifier: Apache-2.0
"""Which allreduces there are, and how a training script gets one."""
from front_end import preload

PLAIN = "gloo"  # without this project's library

# As the library knows them in GLOO_ALGO.
_PRELOADED = ("ring", "bcube", "halving_doubling", "transpose",
              "hierarchical_transpose", "optireduce",
              "hierarchical_optireduce")

KNOWN = (PLAIN, *_PRELOADED)


def variables(algorithm: str, library: str | None,
              preloaded: str = "") -> dict[str, str]:
    """Environment variables that make any script with backend="gloo" use
    `algorithm`. `library` is none for PLAIN; `preloaded` is preloaded too.
    """
    if algorithm == PLAIN:
        return {}
    assert library is not None
    return preload.variables(library, algorithm, preloaded)
