"""What is different between two pages, line by line: every element begins one.

Both are strangers' words of any kind: the work is bounded, whatever they hold.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

MOST_LINES = 3_000
LONGEST_LINE = 400
# So many pairs of equal lines are compared; lines that are everywhere tell nothing.
MOST_PAIRS = 10_000
AROUND = 2
MOST_SHOWN = 600
_ELEMENT = re.compile(r"(?<=\S)\s*(?=<(?!/))")


@dataclass(frozen=True, slots=True)
class Line:
    """A line: `sign` says that it is gone (-), new (+), in both (blank), or left out (…)."""

    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class Changes:
    """The lines that changed with some around them; not `is_whole`: the pages are longer."""

    lines: tuple[Line, ...]
    gone: int
    new: int
    is_whole: bool


def compare(then: str, now: str) -> Changes:
    """Compare a page with the one that took its place."""
    before, after = lines_of(then), lines_of(now)
    is_whole = max(len(before), len(after)) <= MOST_LINES
    before, after = before[:MOST_LINES], after[:MOST_LINES]
    matcher = SequenceMatcher(_dull(before, after).__contains__, before, after, autojunk=False)
    lines: list[Line] = []
    for group in matcher.get_grouped_opcodes(AROUND):
        lines += [Line("…", ""), *_told(group, before, after)]
    gone, new = (sum(line.sign == sign for line in lines) for sign in "-+")
    is_whole = is_whole and len(lines) <= MOST_SHOWN
    return Changes(tuple(lines[:MOST_SHOWN]), gone, new, is_whole)


def lines_of(html: str) -> list[str]:
    """Let every element begin a line."""
    lines = (line.strip() for part in _ELEMENT.split(html) for line in part.splitlines())
    return [line[:LONGEST_LINE] for line in lines if line]


def _told(
    group: Sequence[tuple[str, int, int, int, int]], before: list[str], after: list[str]
) -> Iterator[Line]:
    for kind, first, last, start, end in group:
        if kind == "equal":
            yield from (Line(" ", text) for text in before[first:last])
            continue
        yield from (Line("-", text) for text in before[first:last])
        yield from (Line("+", text) for text in after[start:end])


def _dull(before: list[str], after: list[str]) -> set[str]:
    """Find the lines that are so frequent that comparing all of them would take long."""
    then, now = Counter(before), Counter(after)
    pairs = sorted((then[line] * now[line], line) for line in then if line in now)
    total, dull = 0, set()
    for count, line in pairs:
        total += count
        if total > MOST_PAIRS:
            dull.add(line)
    return dull
