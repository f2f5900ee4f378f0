"""Bars that show shares: all jobs by where they are, or how full something is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from worker.reporting.charts.svg import element, words

HEIGHT, METER_HEIGHT = 14, 4


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a whole; `colour` is a class such as `f-ok`."""

    count: int
    colour: str
    text: str
    is_hatched: bool = False


def stacked(parts: Sequence[Part]) -> str:
    """Draw parts of a whole beside each other; the figures must stand beside it in words."""
    whole = sum(part.count for part in parts) or 1
    drawn, x = [], 0.0
    for part in parts:
        if not part.count:
            continue
        width = part.count / whole
        place: dict[str, str | float] = {
            "x": f"{100 * x:.2f}%",
            "width": f"{100 * width:.2f}%",
            "height": HEIGHT,
        }
        title = f"<title>{words(part.text)}</title>"
        drawn.append(element("rect", title, class_=part.colour, **place))
        if part.is_hatched:
            drawn.append(element("rect", fill="url(#hatch)", **place))
        x += width
    return (
        f'<svg class="chart" width="100%" height="{HEIGHT}" aria-hidden="true">{"".join(drawn)}'
        "</svg>"
    )


def meter(share: float, colour: str = "f-run") -> str:
    """Draw how much of something is used; the figure must stand beside it."""
    filled = min(max(share, 0.0), 1.0)
    back = element("rect", class_="f-sunk", width="100%", height=METER_HEIGHT, rx=2)
    front = element("rect", class_=colour, width=f"{100 * filled:.0f}%", height=METER_HEIGHT, rx=2)
    return (
        f'<svg class="bar" width="100%" height="{METER_HEIGHT}" aria-hidden="true">{back}{front}'
        "</svg>"
    )
