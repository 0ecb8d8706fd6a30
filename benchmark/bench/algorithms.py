# SPDX-License-Identifier: Apache-2.0
"""Algorithms, by names such as ring or optireduce:none+gso=off. The programs
that run them have the list; see benchmark/algorithm_name.h for settings in
names."""
import json
import subprocess
import sys
from collections.abc import Sequence

from front_end.errors import EXIT_USAGE, UserError

WORKER = "//benchmark/comparison:worker"
SIMULATOR = "//benchmark:measure"
PLAIN = "gloo"  # in a training: without this project's library

NAMES_HELP = """\
algorithms
  ring, halving_doubling, bcube, ring_chunked (not in a training)
                    Gloo's own, over its tcp
  gloo              PyTorch without this project's library (only in a training)
  transpose         exact: each shard goes to its owner, and back, over tcp
  optireduce        transpose over ubt: unreliable, bounded in time; repairs as
                    GLOO_UBT_REPAIR says
  hierarchical_transpose, hierarchical_optireduce
                    the same within groups of ranks (GLOO_UBT_GROUPS)

"""
SETTINGS_HELP = """\
settings in a name
  optireduce:none, :broadcast and :both repair so. optireduce+groups=2+gso=off
  is optireduce with GLOO_UBT_GROUPS=2 and GLOO_UBT_EXPERIMENT=gso:off: each
  setting of docs/configuration.md, in lower case and without GLOO_UBT_

columns
  see docs/experiments.md

"""


def choose(binary: str, wanted: Sequence[str], ranks: int,
           *more: str) -> dict[str, dict[str, str]]:
    """The names to run, checked by `binary`, the path of WORKER or SIMULATOR:
    those in `wanted` or, if that is empty, its default. Each has the
    environment variables that mean its settings.

    Raises UserError for a name or a setting that is unknown, a wrong value, or
    an algorithm that cannot work with this number of ranks.
    """
    command = [binary, "--list-algorithms", "--size", str(ranks), *more]
    if wanted:
        command += ["--algorithms", ",".join(wanted)]
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:  # for example a wrong GLOO_UBT_* variable
        raise UserError(done.stderr.strip().removeprefix("error: "),
                        EXIT_USAGE)
    listed = json.loads(done.stdout)
    for name, why in listed["left_out"].items():
        print(f"note: {name} is left out, it {why}", file=sys.stderr)
    return listed["chosen"]


def base(name: str) -> str:
    """The name without settings and repair policy."""
    return name.partition("+")[0].partition(":")[0]


def is_bounded(name: str) -> bool:
    """Whether the algorithm may lose data."""
    return base(name).endswith("optireduce")
