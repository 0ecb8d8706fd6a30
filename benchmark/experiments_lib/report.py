# SPDX-License-Identifier: Apache-2.0
"""The report: Markdown with pictures, and the same as one page of HTML."""
import base64
import os
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from .experiment import Claim, Experiment, Part
from .markdown import table
from .pictures import FOLDER as PICTURES
from .pictures import Pictures
from .store import Finding, Store

MARKDOWN, PAGE = "README.md", "index.html"

_INTRODUCTION = """\
# Results

Made by `benchmark/experiments{quick}`; every figure and picture is of the raw
data that its section links to, and what was not measured is named as such.
Times compare within one command's run; from one machine, or day, to another
they do not.

"""
_STYLE = """\
body { font-family: sans-serif; max-width: 72em; margin: 2em auto;
       padding: 0 1em; line-height: 1.4 }
table { border-collapse: collapse; margin: 1em 0 }
td, th { padding: 0.1em 0.7em; border-bottom: 1px solid #ccc }
img { max-width: 100% }
"""
_IMAGE = re.compile(r'src="([^"]+\.svg)"')


def prepare(report: str) -> None:
    """Raises OSError if write() could not write into the folder."""
    os.makedirs(os.path.join(report, PICTURES), exist_ok=True)
    for name in (MARKDOWN, PAGE):
        with open(os.path.join(report, name), "a", encoding="utf-8"):
            pass


def write(report: str, experiments: Collection[Experiment], quick: bool,
          store: Store) -> None:
    """Writes into the folder `report`."""
    pictures = Pictures(report)
    text, claims = "", []
    for experiment in experiments:
        parts = experiment.parts(quick)
        found = {part.name: finding for part in parts
                 if (finding := store.get(experiment, part))}
        results = {name: finding.result for name, finding in found.items()}
        text += f"## {experiment.title}\n\n{experiment.question}\n\n"
        if results:
            text += experiment.tell(results, pictures)
            text += _origins(experiment, parts, found, store)
            claims += experiment.claims(results)
        text += _lacking(experiment, parts, found, store)
    text = (_INTRODUCTION.format(quick=" --quick" if quick else "")
            + _claims(claims) + text)
    with open(os.path.join(report, MARKDOWN), "w", encoding="utf-8") as file:
        file.write(text)
    with open(os.path.join(report, PAGE), "w", encoding="utf-8") as file:
        file.write(_page(text, report))


def _claims(claims: Sequence[Claim]) -> str:
    if not claims:
        return ""
    whys: dict[str, list[str]] = {}
    for claim in claims:
        if not claim.holds:
            whys.setdefault(claim.why, []).append(f"*{claim.what}*")
    return ("## Beside the papers\n\n"
            + table(("", "the papers", "asked here", "found", "holds"),
                    [(claim.what, claim.papers, claim.asked, claim.found,
                      "yes" if claim.holds else "no") for claim in claims],
                    words=5)
            + "".join(f"{', '.join(whats)}: {why}\n\n"
                      for why, whats in whys.items()))


def _lacking(experiment: Experiment, parts: Sequence[Part],
             found: Mapping[str, Finding], store: Store) -> str:
    """Names the parts that were not measured, or whose repetition failed."""
    text = ""
    for part in parts:
        name, failure = part.name, store.failure(experiment, part)
        if name in found and failure:
            text += (f"{name}, measured anew, failed: `{failure.why}`. What is "
                     f"told above began {found[name].date}.\n\n")
        elif name not in found:
            text += (f"Not measured: {name}"
                     + (f", for it failed: `{failure.why}`" if failure
                        else "") + ".\n\n")
    return text


def _seeds(result: Any) -> str:
    """The seeds of a command's output."""
    rows = result["rows"] if isinstance(result, Mapping) else result
    own = {row["seed"] for row in rows if "seed" in row}
    own |= {seed for row in rows for seed in range(1, row.get("seeds", 0) + 1)}
    labs = {row["lab_seed"] for row in rows if "lab_seed" in row}
    return "; ".join(
        f"{what}{', '.join(map(str, sorted(seeds)))}"
        for what, seeds in (("", own), ("lab ", labs)) if seeds)


def _origins(experiment: Experiment, parts: Sequence[Part],
             found: Mapping[str, Finding], store: Store) -> str:
    rows = []
    for part in parts:
        if part.name in found:
            finding = found[part.name]
            command = shlex.join([
                *(f"{name}={value}" for name, value
                  in finding.variables.items()), *finding.command])
            rows.append((f"[{part.name}]({store.path(experiment, part)})",
                         f"`{command}`", _seeds(finding.result),
                         finding.commit, finding.date,
                         f"{finding.seconds:.0f}"))
    machines = sorted({finding.machine for finding in found.values()})
    return (f"<details><summary>Commands, on {'; '.join(machines)}"
            "</summary>\n\n"
            + table(("raw data", "command", "seeds", "commit", "began", "s"),
                    rows)
            + "</details>\n\n")


def _page(text: str, report: str) -> str:
    """One file that needs no other file and no network."""
    import markdown  # only for a report

    def inline(match: re.Match) -> str:
        with open(os.path.join(report, match[1]), "rb") as file:
            data = base64.b64encode(file.read()).decode()
        return f'src="data:image/svg+xml;base64,{data}"'

    body = markdown.markdown(text.replace("<details>",
                                          '<details markdown="1">'),
                             extensions=["tables", "md_in_html"])
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
            f"<title>Results</title>\n<style>\n{_STYLE}</style></head>\n"
            f"<body>\n{_IMAGE.sub(inline, body)}\n</body></html>\n")
