"""`python -m bench.performance`: write docs/performance.md and its plots anew from the results.

Pure of measuring: the same results give the same page. Words by hand about what is missed stand in
bench/results/notes.md, and come along.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from bench import harness, plots
from bench.groups import GROUPS
from bench.harness import Found, Plot
from worker.settings import PROJECT_ROOT

RESULTS = PROJECT_ROOT / "bench" / "results"
PAGE = PROJECT_ROOT / "docs" / "performance.md"
PICTURES = PROJECT_ROOT / "docs" / "pictures"
PREFIX = "performance-"

Document = Mapping[str, Any]

HEAD = """# Performance

How close Nightshift is to what the hardware allows, and how far ahead of what else one would pick.
`make bench` measures all of it in one run on one machine (at most 25 minutes) and writes this page
from what it found; `python -m bench.performance` writes it again from the same figures. Ratios
count, not absolute figures: both sides of a row do the same work with as many processes, take
turns, and the median of the rounds' ratios is what the target is about. The server commits durably,
with the options of every private server.
"""
EMPTY = """
There are no figures yet: `make bench` writes them here.
"""


def main() -> int:
    """Write the page from the results that are kept, or one that says there are none."""
    path = RESULTS / "latest.json"
    document = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    write(document)
    return 0


def write(document: Document) -> None:
    """Write page and plots; plots that are no more are removed."""
    for old in PICTURES.glob(f"{PREFIX}*.svg"):
        old.unlink()
    for name, plot in plots_of(document).items():
        (PICTURES / f"{PREFIX}{name}.svg").write_text(plots.draw(plot), encoding="utf-8")
    notes = RESULTS / "notes.md"
    words = notes.read_text(encoding="utf-8") if notes.exists() else ""
    PAGE.write_text(page_of(document, words), encoding="utf-8")


def page_of(document: Document, notes: str = "") -> str:
    """Write the whole page as Markdown."""
    if not document.get("groups"):
        return HEAD + EMPTY + _commands(document)
    parts = [HEAD, "\n## The table\n\n", table_of(document), "\n"]
    if remarks := _remarks(document):
        parts += ["\n", *remarks]
    if notes:
        parts += ["\n## What is missed, and why\n\n", notes.strip(), "\n"]
    parts += ["\n## Plots\n"]
    for name, plot in plots_of(document).items():
        parts.append(f"\n![{plot.title}](pictures/{PREFIX}{name}.svg)\n")
    return "".join([*parts, _machine(document), _commands(document)])


def table_of(document: Document) -> str:
    """Lay all rows out as one Markdown table."""
    return harness.table([row for found in _found(document).values() for row in found.rows])


def plots_of(document: Document) -> dict[str, Plot]:
    """Gather the plots of all groups by name."""
    return {name: plot for found in _found(document).values() for name, plot in found.plots.items()}


def _found(document: Document) -> dict[str, Found]:
    return {name: harness.from_json(each) for name, each in document.get("groups", {}).items()}


def _remarks(document: Document) -> list[str]:
    notes = [row.note for found in _found(document).values() for row in found.rows if row.note]
    return [f"- {note}\n" for note in dict.fromkeys(notes)]


def _machine(document: Document) -> str:
    servers = {fact for found in _found(document).values() for fact in found.facts.values()}
    facts = {
        **document["machine"],
        "measured": document["when"],
        "servers": "; ".join(sorted(servers)),
    }
    lines = [f"| {name} | {value} |\n" for name, value in facts.items()]
    return "\n## Machine\n\n| what | which |\n| --- | --- |\n" + "".join(lines)


def _commands(document: Document) -> str:
    lines = []
    for group in GROUPS:
        seconds = document.get("groups", {}).get(group.name, {}).get("seconds")
        took = "–" if seconds is None else f"{seconds:.0f} s"
        lines.append(f"| {group.title} | `{group.command}` | {took} |\n")
    head = "| rows | command | it took |\n| --- | --- | --- |\n"
    return f"\n## Each row's command\n\n{head}{''.join(lines)}"


if __name__ == "__main__":
    sys.exit(main())
