# SPDX-License-Identifier: Apache-2.0
"""The initial weights of a fine-tuning."""
import hashlib
import os
import sys
import tempfile

from front_end.errors import UserError

from .job import Job
from .models import SCRIPTS, Model, write_verses
from .progress import Progress

_FOLDER = os.path.join("~", ".cache", "gloo_ubt")
_RANKS = 4
_STEPS = 600
_OPTIONS = ("--steps", str(_STEPS), "--evaluate-every", str(_STEPS))


def weights(model: Model, python: str, torch: str) -> str | None:
    """The path of `model`'s initial weights; None: random ones.

    Trains missing weights on this machine with Gloo's own allreduce, because
    it is bit for bit repeatable. Keeps them until their data, a script or
    PyTorch's version, `torch`, changes. Raises UserError if the training
    fails.
    """
    if not model.start_verses:
        return None
    with tempfile.TemporaryDirectory(prefix="train-") as folder:
        data = write_verses(model.start_verses, folder)
        kept = os.path.join(os.path.expanduser(_FOLDER),
                            f"{model.name}-{_digest(data, torch)}.pt")
        if not os.path.exists(kept):
            try:
                os.makedirs(os.path.dirname(kept), exist_ok=True)
            except OSError as error:
                raise UserError(
                    f"cannot keep what {model.name} starts from in {kept}: "
                    f"{error.strerror}; set HOME to a folder of yours"
                ) from error
            # In the same folder, so that the rename is atomic even if two
            # processes train at once.
            new = f"{kept}.{os.getpid()}"
            _train([python, os.path.join(SCRIPTS, model.script_name), "--data",
                    data, *_OPTIONS, "--save", new], model.name)
            os.replace(new, kept)
    return kept


def _digest(data: str, torch: str) -> str:
    """A digest of everything that determines the weights."""
    digest = hashlib.sha256(f"{torch} {_RANKS} {_OPTIONS}".encode())
    scripts = [os.path.join(SCRIPTS, name) for name in sorted(
        os.listdir(SCRIPTS)) if name.endswith(".py")]
    for path in (data, *scripts):
        with open(path, "rb") as file:
            digest.update(hashlib.sha256(file.read()).digest())
    return digest.hexdigest()[:16]


def _train(command: list[str], name: str) -> None:
    if not sys.stderr.isatty():  # else the bar shows it
        print(f"Training what {name} starts from (once, a minute) ...",
              file=sys.stderr, flush=True)
    with Progress(1) as progress:
        progress.begin(0, f"what {name} starts from, once")
        with Job(command, _RANKS, {}) as job:
            for line in job.lines():
                progress.take(line)
