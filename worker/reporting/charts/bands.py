"""What held a pool up, shaded over a chart: pauses, outages, open breakers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from worker.reporting.charts.marks import Mark, placed
from worker.reporting.charts.svg import element, words
from worker.reporting.charts.time_axis import TimeAxis

# Shorter ones are drawn this wide, in pixels; legends say so.
LEAST_PIXELS = 5
# On the narrowest chart that many pixels are about this share of it.
LEAST_SHARE = 0.015
MOST_BANDS = 200
# Closer together, in shares of the width, only the first has its mark or its words.
MARK_APART, WORDS_APART = 0.045, 0.19


class Shade(StrEnum):
    """What a band is about; the values are the classes that colour it."""

    PAUSE = "b-pause"
    OUTAGE = "b-bad"
    BREAKER = "b-hold"


MARKS = {Shade.PAUSE: Mark.PAUSED, Shade.OUTAGE: Mark.OUTAGE, Shade.BREAKER: Mark.HELD_BACK}


@dataclass(frozen=True, slots=True)
class Band:
    """A stretch of time; `text` says in a few words what it was."""

    shade: Shade
    start: datetime
    end: datetime
    text: str


def shaded(axis: TimeAxis, bands: Sequence[Band], top: float, height: float) -> str:
    """Shade the bands from `top` downwards; each says what it is when it is pointed at."""
    parts = []
    for band in bands[:MOST_BANDS]:
        start, width = axis.share(band.start), axis.share(band.end) - axis.share(band.start)
        wide = f"{100 * width:.2f}%" if width >= LEAST_SHARE else LEAST_PIXELS
        # Near the right edge a least width would stick out.
        x = min(start, 1 - LEAST_SHARE) if width < LEAST_SHARE else start
        title = f"<title>{words(band.text)}</title>"
        parts.append(
            element(
                "rect", title, class_=f"{band.shade} band", x=f"{100 * x:.2f}%", width=wide,
                y=top, height=height,
            )
        )  # fmt: skip
    return "".join(parts)


def named(axis: TimeAxis, bands: Sequence[Band], ends_at: float = 1.0) -> str:
    """Put a mark over each band, and its words where there is room; `ends_at` bounds the words."""
    parts = []
    last_mark = last_words = -1.0
    for band in sorted(bands[:MOST_BANDS], key=lambda each: each.start):
        x = axis.share(band.start)
        if x - last_mark < MARK_APART:
            continue
        last_mark = x
        inside = placed(MARKS[band.shade], -5, 4)
        if x - last_words >= WORDS_APART and x + WORDS_APART <= ends_at:
            last_words = x
            inside += f'<text class="wide lab" x="14" y="15">{words(band.text, 24)}</text>'
        parts.append(f'<svg x="{100 * x:.2f}%" overflow="visible">{inside}</svg>')
    return "".join(parts)
