# SPDX-License-Identifier: Apache-2.0
"""Which allreduces there are, and how a training script gets one."""

PLAIN = "gloo"  # without this project's library

# As the library knows them in GLOO_ALGO.
_PRELOADED = ("ring", "bcube", "transpose", "optireduce")

KNOWN = (PLAIN, *_PRELOADED)


def variables(algorithm: str, library: str | None,
              preloaded: str = "") -> dict[str, str]:
    """Environment variables that make any script with backend="gloo" use
    `algorithm`. `library` is none for PLAIN; `preloaded` is preloaded too.
    """
    if algorithm == PLAIN:
        return {}
    return {"LD_PRELOAD": " ".join(filter(None, (library, preloaded))),
            "GLOO_ALGO": algorithm}
