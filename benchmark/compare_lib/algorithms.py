# SPDX-License-Identifier: Apache-2.0
"""The known algorithms, and the choice of those to compare."""
import os

from front_end.options import unknown

from .errors import EXIT_USAGE, CompareError


def _why_not_bcube(ranks):
    return None if ranks & (ranks - 1) == 0 else "needs a power of 2 ranks"


def _why_not_alone(ranks):
    return None if ranks > 1 else "needs at least 2 ranks"


def _why_not_grouped(ranks):
    groups = os.environ.get("GLOO_UBT_GROUPS", "")
    if not groups.isdecimal() or (int(groups) and ranks % int(groups) == 0):
        return None
    return (f"cannot divide {ranks} ranks into GLOO_UBT_GROUPS={groups} equal "
            "groups; set a divisor, auto or host")


# By name: whether it is compared by default, and why it cannot work.
_KNOWN = {
    "ring": (True, None),
    "ring_chunked": (True, None),
    "halving_doubling": (True, None),
    "bcube": (True, _why_not_bcube),
    "transpose": (True, None),
    "hierarchical_transpose": (False, _why_not_grouped),
    "optireduce": (True, _why_not_alone),
    "optireduce:none": (False, _why_not_alone),
    "optireduce:broadcast": (False, _why_not_alone),
    "optireduce:both": (False, _why_not_alone),
    "hierarchical_optireduce": (
        False, lambda ranks: _why_not_alone(ranks) or _why_not_grouped(ranks)),
}


def known(ranks):
    """The worker's --list-algorithms, known before the worker is built."""
    return {name: {"default": default,
                   "why_not": why_not(ranks) if why_not else None}
            for name, (default, why_not) in _KNOWN.items()}


def choose(text, listed):
    """Returns the names in `text`; without any, the defaults that can work.

    `listed` has for each name "default" and "why_not", which is None or the
    reason why it cannot work. Raises CompareError for a name that is unknown
    or cannot work.
    """
    names = [name for name in text.split(",") if name]
    if not names:
        return [name for name, entry in listed.items()
                if entry["default"] and entry["why_not"] is None]
    for name in names:
        if name not in listed:
            raise CompareError(f"--algorithms: {unknown(name, listed)}",
                               EXIT_USAGE)
        if listed[name]["why_not"] is not None:
            raise CompareError(
                f"--algorithms: {name} {listed[name]['why_not']}", EXIT_USAGE)
    if len(set(names)) != len(names):
        raise CompareError("--algorithms: name each only once", EXIT_USAGE)
    return names
