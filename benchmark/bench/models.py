# SPDX-License-Identifier: Apache-2.0
"""The models for training, and their data."""
import dataclasses
import os
import subprocess
from collections.abc import Sequence

from front_end.bazel import ROOT
from front_end.errors import UserError

SCRIPTS = os.path.join(ROOT, "benchmark", "training")

_REMEDY = "run third_party/install third_party/training_packages.txt"
_FASHION = "/usr/share/datasets/fashion-mnist"
_WHOLE_BIBLE = "Gen1:1-Rev22:21"


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    title: str
    script_name: str
    about: str  # its text in --help, without the last line end
    options: Sequence[str] = ()  # of the script
    verses: str = ""  # the data; empty: the data are a folder

    @property
    def data_is_folder(self) -> bool:
        return not self.verses

    def command(self) -> list[str]:
        """The command line, without Python at its begin and the data at its
        end."""
        return [os.path.join(SCRIPTS, self.script_name), *self.options]


def _transformer(name: str, title: str, about: str, *options: str) -> Model:
    return Model(name, f"transformer{title}, King James Bible",
                 "bible_transformer.py", about, options, _WHOLE_BIBLE)


MODELS = {model.name: model for model in (
    Model("fashion", "convolutional network, Fashion-MNIST",
          "fashion_cnn.py", """\
a convolutional network (3.3 MB of gradients a step) that names
clothes, on Fashion-MNIST; an epoch of 4 ranks has 234 steps"""),
    _transformer("bible", "", """\
a transformer (2.5 MB) that continues the King James Bible,
character by character; an epoch of 4 ranks has 1,900 steps"""),
    _transformer("bible-small", " of 0.2 million weights",
                 "the same with a third of the weights (0.8 MB)", "--width",
                 "72"),
    _transformer("bible-large", " of 1.9 million weights",
                 "the same with three times the weights (7.4 MB)", "--width",
                 "224"),
)}


def packaged_data(model: Model, folder: str) -> str:
    """Returns the path of a package's data, or writes the data into
    `folder`."""
    if model.data_is_folder:
        if not os.path.isdir(_FASHION):
            raise UserError(f"{_FASHION} is missing; {_REMEDY}")
        return _FASHION
    path = os.path.join(folder, "bible.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(without_references(_bible(model.verses)))
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
