"""Small pictures beside a figure: a trend as bars or as a line."""

from __future__ import annotations

from collections.abc import Sequence

from worker.reporting.charts.svg import element, number, stretched, words

BARS_HEIGHT, LINE_HEIGHT = 40, 24


def bars(
    counts: Sequence[int],
    *,
    label: str,
    left: str = "",
    middle: str = "",
    right: str = "",
    colour: str = "f-bad",
) -> str:
    """Draw counts as bars of equal width, with words below; `label` says all of it in words."""
    most = max(counts, default=0)
    path = "".join(
        f"M{place + 0.1:.1f} {BARS_HEIGHT}v-{number(max(BARS_HEIGHT * count / most, 1.5))}"
        f"h.8V{BARS_HEIGHT}z"
        for place, count in enumerate(counts)
        if count > 0
    )
    drawn = [element("path", class_=colour, d=path)] if path else []
    line = element(
        "line", class_="axis", x1="0", x2="100%", y1=BARS_HEIGHT + 0.5, y2=BARS_HEIGHT + 0.5
    )
    texts = "".join(
        f'<text class="{kind}" x="{x}" y="{BARS_HEIGHT + 15}">{words(text, 60)}</text>'
        for kind, x, text in (("", "0", left), ("mid", "50%", middle), ("end", "100%", right))
        if text
    )
    return (
        f'<svg class="chart" width="100%" height="{BARS_HEIGHT + 20}" role="img"'
        f' aria-label="{words(label)}">'
        f"{stretched(max(len(counts), 1), BARS_HEIGHT, 0, drawn)}{line}{texts}</svg>"
    )


def line(values: Sequence[float], *, label: str, colour: str = "s-ok") -> str:
    """Draw values as a line without any words, the last one marked; at least two are needed."""
    if len(values) < 2:
        return ""
    most = max(*values, 0.0) or 1.0
    last = len(values) - 1
    height = LINE_HEIGHT - 4
    places = [2 + height * (1 - value / most) for value in values]
    path = "M" + "L".join(f"{place} {number(y)}" for place, y in enumerate(places))
    drawn = element(
        "path", class_=colour, stroke_width=1.6, vector_effect="non-scaling-stroke", d=path
    )
    end = element("circle", class_=f"{colour} last", cx="100%", cy=places[-1], r=2.5)
    return (
        f'<svg class="chart spark" width="100%" height="{LINE_HEIGHT}" role="img"'
        f' aria-label="{words(label)}">{stretched(last, LINE_HEIGHT, 0, [drawn])}{end}</svg>'
    )
