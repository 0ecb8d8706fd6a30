# SPDX-License-Identifier: Apache-2.0
"""The models for training, their data and their initial weights."""
import dataclasses
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from front_end.bazel import ROOT
from front_end.errors import UserError

from .job import Job, Progress

SCRIPTS = os.path.join(ROOT, "benchmark", "training")

_REMEDY = "run third_party/install third_party/training_packages.txt"
_FASHION = "/usr/share/datasets/fashion-mnist"
_WHOLE_BIBLE = "Gen1:1-Rev22:21"
_OLD_TESTAMENT = "Gen1:1-Mal4:6"
_NEW_TESTAMENT = "Mat1:1-Rev22:21"
_KEPT = os.path.join("~", ".cache", "gloo_ubt")
_RANKS = 4
_STEPS = 600
_OPTIONS = ("--steps", str(_STEPS), "--evaluate-every", str(_STEPS))


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    title: str
    script_name: str
    about: str  # its text in --help, without the last line end
    options: Sequence[str] = ()  # of the script
    verses: str = ""  # the data; empty: the data are a folder
    # The verses of an earlier training; empty: there was none.
    start_verses: str = ""

    @property
    def data_is_folder(self) -> bool:
        return not self.verses

    def command(self) -> list[str]:
        """The command line, without Python at its begin and the data at its
        end."""
        return [os.path.join(SCRIPTS, self.script_name), *self.options]


def _transformer(name: str, title: str, about: str, **more: object) -> Model:
    return Model(name, f"transformer{title}", "bible_transformer.py", about,
                 **{"verses": _WHOLE_BIBLE, **more})


MODELS = {model.name: model for model in (
    Model("fashion", "convolutional network, Fashion-MNIST",
          "fashion_cnn.py", """\
a convolutional network (3.3 MB of gradients a step) that names
clothes, on Fashion-MNIST; an epoch of 4 ranks has 234 steps"""),
    _transformer("bible", ", King James Bible", """\
a transformer (2.5 MB) that continues the King James Bible,
character by character; an epoch of 4 ranks has 1,900 steps"""),
    _transformer("bible-small", " of 0.2 million weights, King James Bible",
                 "the same with a third of the weights (0.8 MB)",
                 options=("--width", "72")),
    _transformer("bible-large", " of 1.9 million weights, King James Bible",
                 "the same with three times the weights (7.4 MB)",
                 options=("--width", "224")),
    _transformer("bible-tuned", ", tuned to the New Testament", """\
bible's transformer, which has learnt the Old Testament, learns
the New one; an epoch of 4 ranks has 440 steps. The weights it
starts from are trained once, with plain Gloo, and kept""",
                 options=("--lr", "0.0005"), verses=_NEW_TESTAMENT,
                 start_verses=_OLD_TESTAMENT),
)}


def packaged_data(model: Model, folder: str) -> str:
    """Returns the path of a package's data, or writes the data into
    `folder`."""
    if model.data_is_folder:
        if not os.path.isdir(_FASHION):
            raise UserError(f"{_FASHION} is missing; {_REMEDY}")
        return _FASHION
    return write_verses(model.verses, folder)


def write_verses(verses: str, folder: str) -> str:
    """Writes `verses`, such as "Gen1:1-Gen5:3", into a new file in `folder`.
    Returns its path."""
    path = os.path.join(folder, "bible.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(without_references(_bible(verses)))
    return path


def _bible(verses: str) -> str:
    """One verse a line, such as "Ge1:1 In the beginning"."""
    try:
        done = subprocess.run(
            ["bible", "-f", verses], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
            check=False)
    except FileNotFoundError as error:
        raise UserError(f"cannot find the command bible; {_REMEDY}") from error
    if done.returncode != 0 or not done.stdout:
        raise UserError(f"bible -f {verses}: {done.stderr.strip()}")
    return done.stdout


def without_references(verses: str) -> str:
    return "".join(line.split(" ", 1)[-1] + "\n"
                   for line in verses.splitlines())


def start_weights(model: Model, python: str, torch: str) -> str | None:
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
        kept = os.path.join(os.path.expanduser(_KEPT),
                            f"{model.name}-{_digest(data, torch)}.pt")
        if not os.path.exists(kept):
            try:
                os.makedirs(os.path.dirname(kept), exist_ok=True)
            except OSError as error:
                raise UserError(
                    f"cannot keep the weights that {model.name} starts from "
                    f"in {kept}: {error.strerror}; set HOME to a folder of "
                    "yours"
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
        print(f"Training the weights that {name} starts from (once, a minute) "
              "...", file=sys.stderr, flush=True)
    with Progress(1) as progress:
        progress.begin(0, f"weights that {name} starts from, once")
        with Job(command, _RANKS, {}) as job:
            for line in job.lines():
                progress.take(line)
