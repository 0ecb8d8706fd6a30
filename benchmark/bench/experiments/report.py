# SPDX-License-Identifier: Apache-2.0
"""The report: pages of Markdown.

The text of a page is written by hand, apart from its block between two marks.
Where a page is not there yet it begins as a copy of the one in docs/results,
without its section Findings, which is about the figures there.
"""
import os
import re
import shlex
import tempfile
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from front_end.bazel import ROOT

from .experiment import Claim, Experiment, Part
from .page import PICTURES, Page, table
from .store import Finding, Store

TEMPLATES = os.path.join(ROOT, "docs", "results")
MAIN = "README.md"
_BEGIN = "<!-- begin: benchmark/experiments writes this part -->\n"
_END = "<!-- end -->\n"
_BLOCK = re.compile(re.escape(_BEGIN) + ".*?" + re.escape(_END), re.DOTALL)
_FINDINGS = re.compile(r"^## Findings\n.*?(?=^## |^<!-- begin|\Z)",
                       re.DOTALL | re.MULTILINE)
_PICTURE = re.compile(r"^!\[[^\]]*\]\(([^)]+)\)\n(?:[^\n]+\n)*", re.MULTILINE)


def prepare(report: str) -> None:
    """Raises OSError if write() could not write into the folder."""
    os.makedirs(os.path.join(report, PICTURES), exist_ok=True)
    tempfile.TemporaryFile(dir=report).close()


def write(report: str, experiments: Collection[Experiment], quick: bool,
          store: Store) -> None:
    """Writes into the folder `report`."""
    prepare(report)
    claims: list[tuple[Experiment, Claim]] = []
    for experiment in experiments:
        parts = experiment.parts(quick)
        found = {part.name: finding for part in parts
                 if (finding := store.get(experiment, part))}
        results = {name: finding.result for name, finding in found.items()}
        page = Page(report)
        if results:
            own = list(experiment.claims(results))
            claims += [(experiment, claim) for claim in own]
            if own:
                page.text += "## Goals\n\n" + _claims_table(own)
            page.text += "## Results\n\n"
            experiment.show(results, page)
        missing = [part.name for part in parts if part.name not in found]
        if missing:
            page.line(f"Not measured: {', '.join(missing)}.")
        page.text += _origins(experiment, parts, found, store)
        _put(report, f"{experiment.name}.md", experiment.title, page.text)
    _put(report, MAIN, "Results", _papers(claims))


def _put(report: str, name: str, title: str, block: str) -> None:
    """Writes `block` between the marks of a page."""
    path = os.path.join(report, name)
    if os.path.exists(path):
        text = _read(path)
    else:
        template = os.path.join(TEMPLATES, name)
        text = _FINDINGS.sub("", _read(template) if os.path.exists(template)
                             else f"# {title}\n\n{_BEGIN}{_END}")
        text = _PICTURE.sub(lambda match: match[0] if os.path.exists(
            os.path.join(report, match[1])) else "", text)
    if not _BLOCK.search(text):
        text += f"\n{_BEGIN}{_END}"
    text = _BLOCK.sub(lambda _: f"{_BEGIN}\n{block}{_END}", text)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _verdict(claim: Claim) -> str:
    return "holds" if claim.holds else "fails"


def _claims_table(claims: Sequence[Claim]) -> str:
    return table(("", "the papers", "goal here", "found", "verdict"),
                 [(claim.what, claim.papers, claim.goal, claim.found,
                   _verdict(claim)) for claim in claims], words=5)


def _papers(claims: Sequence[tuple[Experiment, Claim]]) -> str:
    """The table of those claims that are the papers'."""
    rows = [(claim.what, claim.papers, claim.goal, claim.found,
             _verdict(claim), f"[{experiment.name}]({experiment.name}.md)")
            for experiment, claim in claims if claim.papers]
    if not rows:
        return "No claim of the papers was measured.\n\n"
    return table(("claim", "the papers", "goal here", "found", "verdict",
                  "why"), rows, words=6)


def _seeds(result: Any) -> str:
    """The seeds of a command's output."""
    rows = [row for row in result if isinstance(row, Mapping)] if isinstance(
        result, list) else []
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
            rows.append((part.name, f"`{command}`", _seeds(finding.result),
                         finding.commit, finding.date,
                         f"{finding.seconds:.0f}"))
    if not rows:
        return ""
    machines = sorted({finding.machine for finding in found.values()})
    return ("## Commands\n\n"
            f"[Raw data]({store.path(experiment)}), measured on "
            f"{'; '.join(machines)}.\n\n<details><summary>Commands</summary>"
            "\n\n" + table(("part", "command", "seeds", "commit", "began", "s"),
                           rows) + "</details>\n\n")
