# SPDX-License-Identifier: Apache-2.0
"""The lab's environments, and networks that lose more than its `lossy`."""
import argparse
import dataclasses

from front_end.options import unknown
from lab_lib.environments import ENVIRONMENTS, Environment

_LOSSY = "lossy"
DEFAULT = ("clean", "p1.5", "p3", "micro", "straggler", "lossy", "lossy:0.05",
           "lossy:0.6")


def parse(text: str) -> Environment:
    """A `type` for argparse: "p3", or "lossy:0.05" for another lost share."""
    name, colon, share = text.partition(":")
    if name not in ENVIRONMENTS:
        raise argparse.ArgumentTypeError(unknown(name, ENVIRONMENTS))
    if not colon:
        return ENVIRONMENTS[name]
    try:
        loss = float(share)
    except ValueError:
        loss = 0.0
    if name != _LOSSY or not 0 < loss < 1:
        raise argparse.ArgumentTypeError(
            f"'{text}': only {_LOSSY} takes a share of packets to lose, from "
            f"above 0 to below 1; write for example {_LOSSY}:0.05")
    return dataclasses.replace(
        ENVIRONMENTS[_LOSSY], name=text, loss=loss,
        what=f"{100 * loss:g} % of all packets are lost")
