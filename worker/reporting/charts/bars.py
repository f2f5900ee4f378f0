"""Stretches of time on one line: the attempts of a job, with the waits between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from worker.reporting.charts.svg import element, picture, words
from worker.reporting.charts.time_axis import TimeAxis, written

TOP, THICK = 4, 14
HEIGHT = TOP + THICK + 26
# A short one is drawn this wide, in pixels, so that it can be seen.
LEAST_PIXELS = 4
LEAST_SHARE = 0.012
MOST_BARS = 200


@dataclass(frozen=True, slots=True)
class Bar:
    """From when to when, in which colour, and what it says when it is pointed at."""

    start: datetime
    end: datetime
    colour: str
    text: str


def draw(axis: TimeAxis, bars: Sequence[Bar], title: str) -> str:
    """Draw the bars over their time axis."""
    middle = TOP + THICK / 2
    inside = [
        written(axis, TOP + THICK + 22, TOP + THICK + 4, TOP + THICK + 8, "axis"),
        element("line", class_="axis", x1="0", x2="100%", y1=middle, y2=middle),
        *(_bar(axis, bar) for bar in bars[:MOST_BARS]),
    ]
    described = "; ".join(bar.text for bar in bars[:MOST_BARS])
    return picture("attempts", title, described, HEIGHT, inside)


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
