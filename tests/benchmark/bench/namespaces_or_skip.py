# SPDX-License-Identifier: Apache-2.0
"""Tests that need namespaces are visibly skipped without them."""
import os
import shutil

from bench.lab.namespaces import Network
from front_end.errors import UserError


def why_not():
    """Why no lab can be made here, or None."""
    if os.geteuid() != 0:
        return "only root can make a lab"
    for tool in ("ip", "tc", "nft"):
        if shutil.which(tool) is None:
            return f"no {tool}: third_party/install"
    try:
        with Network():
            return None
    except UserError as error:
        return str(error)
