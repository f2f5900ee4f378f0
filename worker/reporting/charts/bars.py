"""Stretches of time on one line: the attempts of a job, with the waits between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from worker.reporting.charts.svg import element, percent, picture, words
from worker.reporting.charts.time_axis import TimeAxis, written

TOP, THICK = 22, 14
HEIGHT = TOP + THICK + 26
# A short one is drawn this wide, in pixels, so that it can be seen.
LEAST_PIXELS = 4
LEAST_SHARE = 0.012
MOST_BARS = 200
# A gap that is narrower has no room for its words.
WORDY_SHARE = 0.09
LEAST_NAMED_SHARE = 0.04


@dataclass(frozen=True, slots=True)
class Bar:
    """From when to when, in which colour, and what it says when it is pointed at."""

    start: datetime
    end: datetime
    colour: str
    text: str
    # Written above it, and above the gap before it.
    name: str = ""
    gap: str = ""


def draw(axis: TimeAxis, bars: Sequence[Bar], title: str) -> str:
    """Draw the bars over their time axis."""
    middle = TOP + THICK / 2
    inside = [
        written(axis, TOP + THICK + 22, TOP + THICK + 4, TOP + THICK + 8, "axis"),
        element("line", class_="axis", x1="0", x2="100%", y1=middle, y2=middle),
        *(_bar(axis, bar) for bar in bars[:MOST_BARS]),
        *_written_above(axis, bars[:MOST_BARS]),
    ]
    described = "; ".join(
        f"{bar.gap}; {bar.text}" if bar.gap else bar.text for bar in bars[:MOST_BARS]
    )
    return picture("attempts", title, described, HEIGHT, inside)


def _written_above(axis: TimeAxis, bars: Sequence[Bar]) -> Iterator[str]:
    """Write the names of the bars, and what is to say of the gaps that are wide enough."""
    reached = -1.0
    for place, bar in enumerate(bars):
        middle = (axis.share(bar.start) + axis.share(bar.end)) / 2
        if place and bar.gap:
            before = axis.share(bars[place - 1].end)
            if axis.share(bar.start) - before >= WORDY_SHARE:
                between = (before + axis.share(bar.start)) / 2
                yield _word(between, bar.gap, "mid wide")
        if bar.name and middle - reached >= LEAST_NAMED_SHARE:
            yield _word(middle, bar.name, "mid strong")
            reached = middle


def _word(share: float, text: str, classes: str) -> str:
    return element("text", words(text), class_=classes, x=percent(share), y=TOP - 7)


def _bar(axis: TimeAxis, bar: Bar) -> str:
    start, width = axis.share(bar.start), axis.share(bar.end) - axis.share(bar.start)
    is_short = width < LEAST_SHARE
    x = min(start, 1 - LEAST_SHARE) if is_short else start
    return element(
        "rect",
        f"<title>{words(bar.text)}</title>",
        class_=bar.colour,
        x=f"{100 * x:.2f}%",
        width=LEAST_PIXELS if is_short else f"{100 * width:.2f}%",
        y=TOP,
        height=THICK,
        rx=2,
    )
