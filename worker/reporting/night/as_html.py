"""A night's report as one HTML file: no request, no script; it reads without CSS or SVG, too.

The first sheet is plain, for mail clients; the second adds phones, dark and print. The file's own
policy allows these two and embedded pictures, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from html import escape
from pathlib import Path

from worker.reporting.charts.marks import CHARACTERS, COLOURS, Mark, definitions
from worker.reporting.charts.svg import words
from worker.reporting.night import html_parts
from worker.reporting.night.as_text import LEVEL_MARKS, foot
from worker.reporting.night.model import Night
from worker.reporting.night.words import name_of

SHEETS = ("plain.css", "modern.css")


@cache
def sheets() -> tuple[str, ...]:
    """Read the two sheets."""
    folder = Path(__file__).parent
    return tuple((folder / name).read_text(encoding="utf-8") for name in SHEETS)


@cache
def policy() -> str:
    """Give the policy that allows a report's sheets and pictures; for whoever serves one, too."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()}'"
        for sheet in sheets()
    )
    return f"default-src 'none'; style-src {hashes}; img-src data:; base-uri 'none'"


def html(night: Night) -> str:
    """Write the report."""
    return (
        f'{_head(night)}<body>\n<main class="page">\n{_opening(night)}'
        f"{html_parts.duties(night)}{html_parts.figures(night)}{html_parts.lanes(night)}"
        f"{html_parts.hours(night)}{html_parts.groups(night)}{html_parts.belongings(night)}"
        f"{html_parts.slowest(night)}"
        f"{html_parts.doubts(night)}{html_parts.house(night)}{_foot(night)}</main>\n"
        f"{definitions()}\n</body>\n</html>\n"
    )


def _head(night: Night) -> str:
    counts = night.counts
    ended = f"{counts.done:,} of {counts.jobs_in:,} done, {counts.failed:,} failed"
    title = f"{name_of(night.window).partition(' · ')[0]}: {ended}"
    styles = "".join(f"<style>{sheet}</style>\n" for sheet in sheets())
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy())}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="supported-color-schemes" content="light dark">\n'
        f"<title>{words(title[:1].upper() + title[1:])}</title>\n{styles}</head>\n"
    )


def _opening(night: Night) -> str:
    mark = LEVEL_MARKS[night.verdict.level]
    colour = COLOURS.get(mark, "faint")
    return (
        f'<p class="faint">Nightshift · {words(name_of(night.window))}</p>\n'
        f'<h1><span class="{colour}">{CHARACTERS[mark]}</span> '
        f"{words(night.verdict.sentence)}</h1>\n"
        f"<p>{words(night.verdict.why)}</p>\n"
    )


def _foot(night: Night) -> str:
    notes = "".join(
        f'<p class="faint"><span class="warn">{CHARACTERS[Mark.LOOK]}</span> {words(note)}</p>\n'
        for note in night.notes
    )
    command = words(night.window.command)
    text = words(foot(night)).replace(command, html_parts.code(night.window.command))
    return f'{notes}<p class="faint"><br>{text}</p>\n'
