"""The marks: each says by its shape what it says by its colour.

A page holds `definitions()` once; charts and lists use its symbols by name.
"""

from __future__ import annotations

from enum import StrEnum

from worker.reporting.charts.svg import words


class Mark(StrEnum):
    """What a mark stands for; the values are the names of its symbol and of its colour."""

    DONE = "ok"
    FAILED = "bad"
    LOOK = "warn"
    RUNNING = "run"
    HELD_BACK = "hold"
    PAUSED = "pause"
    WAITING = "wait"
    RESTARTED = "restart"
    OUTAGE = "out"
    AGAIN = "again"
    MOON = "moon"


# For where there are no pictures: terminals, Markdown, mail clients.
CHARACTERS = {
    Mark.DONE: "●",
    Mark.FAILED: "◆",
    Mark.LOOK: "▲",
    Mark.RUNNING: "▷",
    Mark.HELD_BACK: "■",
    Mark.PAUSED: "‖",
    Mark.WAITING: "○",
    Mark.RESTARTED: "↻",
    Mark.OUTAGE: "▨",
    Mark.AGAIN: "▽",
    Mark.MOON: "☾",
}
# The class that colours a mark, where it is not grey.
COLOURS = {
    Mark.DONE: "ok",
    Mark.FAILED: "bad",
    Mark.LOOK: "warn",
    Mark.RUNNING: "run",
    Mark.HELD_BACK: "hold",
    Mark.OUTAGE: "bad",
    Mark.RESTARTED: "ink",
    Mark.AGAIN: "warn",
}
_SHAPES = {
    Mark.DONE: '<circle cx="8" cy="8" r="7.5" fill="currentColor"/>'
    '<path class="cut" d="M4.6 8.3l2.4 2.4 4.4-5" fill="none" stroke-width="1.8"/>',
    Mark.FAILED: '<path d="M8 0l8 8-8 8-8-8z" fill="currentColor"/>'
    '<path class="cut" d="M5.6 5.6l4.8 4.8m0-4.8l-4.8 4.8" fill="none" stroke-width="1.7"/>',
    Mark.LOOK: '<path d="M8 .8l7.8 14.2H.2z" fill="currentColor"/>'
    '<path class="cut" d="M8 5.6v4.6m0 1.4v1.7" fill="none" stroke-width="1.7"/>',
    Mark.RUNNING: '<circle cx="8" cy="8" r="6.7" fill="none" stroke="currentColor"'
    ' stroke-width="1.6"/><path d="M6.2 4.7v6.6L11.6 8z" fill="currentColor"/>',
    Mark.HELD_BACK: '<path d="M4.9.5h6.2l4.4 4.4v6.2l-4.4 4.4H4.9L.5 11.1V4.9z"'
    ' fill="currentColor"/><path class="cut" d="M4.2 8h7.6" fill="none" stroke-width="2"/>',
    Mark.PAUSED: '<path d="M3 2h3.6v12H3zm6.4 0H13v12H9.4z" fill="currentColor"/>',
    Mark.WAITING: '<circle cx="8" cy="8" r="6.5" fill="none" stroke="currentColor"'
    ' stroke-width="1.8" stroke-dasharray="3.4 1.7"/>',
    Mark.RESTARTED: '<path d="M13.2 8a5.2 5.2 0 1 1-1.6-3.8" fill="none" stroke="currentColor"'
    ' stroke-width="2"/><path d="M13.9 1v5H8.9z" fill="currentColor"/>',
    Mark.OUTAGE: '<path d="M1.5 1.5h13v13h-13z" fill="none" stroke="currentColor"'
    ' stroke-width="2"/><path d="M2 14L14 2" stroke="currentColor" stroke-width="2"/>',
    Mark.AGAIN: '<path d="M2 3h12l-6 10z" fill="none" stroke="currentColor" stroke-width="2"'
    ' stroke-linejoin="round"/>',
    Mark.MOON: '<path d="M13.8 1.6A8.8 8.8 0 1 0 18.6 13 7.3 7.3 0 0 1 13.8 1.6z"'
    ' fill="currentColor"/>',
}
_HATCH = (
    '<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse"'
    ' patternTransform="rotate(45)"><path class="hatch-l" d="M0 0v6" stroke-width="2.5"/></pattern>'
)


def definitions() -> str:
    """Give the symbols that every page with marks holds once; it takes no room."""
    symbols = "".join(
        f'<symbol id="m-{mark}" viewBox="0 0 {20 if mark is Mark.MOON else 16}'
        f' {20 if mark is Mark.MOON else 16}">{shape}</symbol>'
        for mark, shape in _SHAPES.items()
    )
    return (
        '<svg class="defs" width="0" height="0" aria-hidden="true" focusable="false">'
        f"{symbols}{_HATCH}</svg>"
    )


def mark(which: Mark, label: str | None = None) -> str:
    """Give a mark to stand within text; without a label it is an ornament of the text beside it."""
    said = 'aria-hidden="true"' if label is None else f'role="img" aria-label="{words(label)}"'
    return f'<svg class="{_classes(which)}" {said}><use href="#m-{which}"/></svg>'


def placed(which: Mark, x: float, y: float, size: float = 14) -> str:
    """Give a mark that stands at a place in a chart."""
    return (
        f'<use href="#m-{which}" class="{_classes(which)}" x="{x:g}" y="{y:g}"'
        f' width="{size:g}" height="{size:g}"/>'
    )


def _classes(which: Mark) -> str:
    return f"mark {COLOURS[which]}" if which in COLOURS else "mark"
