# SPDX-License-Identifier: Apache-2.0
"""Algorithms, by names such as ring or optireduce:none+early=off. The programs
that run them have the list; see benchmark/algorithm_name.h for settings in
names."""
import json
import subprocess
import sys
from collections.abc import Sequence

from front_end import preload
from front_end.errors import EXIT_USAGE, UserError

WORKER = "//benchmark/comparison:worker"
SIMULATOR = "//benchmark:measure"
PLAIN = "gloo"  # in a training: without this project's library

HELP = """\
settings in a name
  optireduce+groups=2+early=off is optireduce with GLOO_UBT_GROUPS=2 and
  GLOO_UBT_EXPERIMENT=early:off: each setting of docs/configuration.md, in lower
  case and without GLOO_UBT_. optireduce:none is short for
  optireduce+repair=none
"""

# The settings that are entries of GLOO_UBT_EXPERIMENT. tests/tidy compares them
# with docs/configuration.md.
EXPERIMENTS = frozenset((
    "bound_mode", "early", "gso", "lead_bytes", "lead_ops", "nap",
    "results_first", "trains", "warmup_ops", "window", "yield", "zero_loss"))


def choose(binary: str, wanted: Sequence[str], ranks: int,
           *more: str) -> list[str]:
    """The names to run, checked by `binary`, the path of WORKER or SIMULATOR:
    those in `wanted` or, if that is empty, its default.

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


def variables(name: str, library: str | None,
              preloaded: str = "") -> dict[str, str]:
    """Environment variables that make any script with backend="gloo" use the
    algorithm. `library` is None for PLAIN; `preloaded` is preloaded, too."""
    if name == PLAIN:
        return {}
    assert library is not None
    first, *settings = name.split("+")
    policy = first.partition(":")[2]
    own = {"GLOO_UBT_REPAIR": policy} if policy else {}
    experiment = []
    for setting in settings:
        key, _, value = setting.partition("=")
        if key in EXPERIMENTS:
            experiment.append(f"{key}:{value}")
        else:
            own[f"GLOO_UBT_{key.upper()}"] = value
    if experiment:
        own["GLOO_UBT_EXPERIMENT"] = ",".join(experiment)
    return preload.variables(library, base(name), preloaded) | own
