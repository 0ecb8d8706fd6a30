# SPDX-License-Identifier: Apache-2.0
"""What can be trained, and on which data."""
import dataclasses
import os
import subprocess

from front_end.bazel import ROOT
from front_end.errors import UserError

_REMEDY = "run third_party/install third_party/training_packages.txt"
_FASHION = "/usr/share/datasets/fashion-mnist"
_WHOLE_BIBLE = "Gen1:1-Rev22:21"


@dataclasses.dataclass(frozen=True)
class Model:
    title: str
    script_name: str
    data_is_folder: bool

    def script(self) -> str:
        return os.path.join(ROOT, "benchmark", "training", self.script_name)


MODELS = {
    "fashion": Model("convolutional network, Fashion-MNIST", "fashion_cnn.py",
                     True),
    "bible": Model("transformer, King James Bible", "bible_transformer.py",
                   False),
}


def packaged_data(name: str, folder: str) -> str:
    """Returns where the data of a package is, or writes it into `folder`."""
    if name == "fashion":
        if not os.path.isdir(_FASHION):
            raise UserError(f"{_FASHION} is missing; {_REMEDY}")
        return _FASHION
    path = os.path.join(folder, "bible.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(without_references(_bible()))
    return path


def _bible() -> str:
    """A verse a line, as "Ge1:1 In the beginning"."""
    try:
        done = subprocess.run(
            ["bible", "-f", _WHOLE_BIBLE], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
            check=False)
    except FileNotFoundError as error:
        raise UserError(f"cannot find the command bible; {_REMEDY}") from error
    if done.returncode != 0 or not done.stdout:
        raise UserError(f"bible -f {_WHOLE_BIBLE}: {done.stderr.strip()}")
    return done.stdout


def without_references(verses: str) -> str:
    return "".join(line.split(" ", 1)[-1] + "\n"
                   for line in verses.splitlines())
