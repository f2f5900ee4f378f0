"""Plots of what the benches found, as SVG files that stand alone and need no script.

A line is told from others by its dashes as well as its colour; every point says its figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from bench.harness import Plot
from worker.reporting.charts.svg import element, number, words

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 720, 64, 24, 48, 52
LINE_HEIGHT, BAR_HEIGHT, BAR_GAP, LABEL_WIDTH = 320, 24, 12, 170
COLOURS = ("#2a7ab0", "#c1531b", "#4f8a34", "#8a5aa8", "#a88a1c", "#6b7280")
DASHES = ("", "7 4", "2 3", "10 3 2 3", "1 4", "14 4")
Place = Callable[[float], float]
Attributes = dict[str, str | float]
# From here on the places on the x axis are of powers, not of sums.
WIDE = 50
STYLE = (
    "<style>text{font:13px system-ui,sans-serif;fill:#1f2937}.t{font-weight:600;font-size:15px}"
    ".g{stroke:#9ca3af;stroke-opacity:.35}@media(prefers-color-scheme:dark){text{fill:#e5e7eb}}"
    "</style>"
)


def draw(plot: Plot) -> str:
    """Draw lines over numbers, or bars beside words."""
    is_bars = any(isinstance(x, str) for points in plot.lines.values() for x, _ in points)
    return _bars(plot) if is_bars else _lines(plot)


def _svg(plot: Plot, height: float, inside: Sequence[str]) -> str:
    title = element("text", words(plot.title), class_="t", x=LEFT, y=20)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {number(height)}"'
        f' width="{WIDTH}" height="{number(height)}" role="img" aria-label="{words(plot.title)}">'
    )
    return f"{head}{STYLE}{title}{''.join(inside)}</svg>\n"


def nice_top(most: float) -> float:
    """Find a round number that is not below, for the end of an axis."""
    if most <= 0:
        return 1.0
    power = float(10 ** math.floor(math.log10(most)))
    return next(step * power for step in (1, 1.5, 2, 3, 4, 5, 8, 10) if step * power >= most)


def _lines(plot: Plot) -> str:
    points = [(float(x), y) for line in plot.lines.values() for x, y in line]
    xs, most = sorted({x for x, _ in points}), nice_top(max(y for _, y in points))
    is_wide = xs[-1] >= WIDE * max(xs[0], 1.0)

    def across(x: float) -> float:
        low, here, high = ((math.log10(v + 1) if is_wide else v) for v in (xs[0], x, xs[-1]))
        return LEFT + (WIDTH - LEFT - RIGHT) * ((here - low) / (high - low) if high > low else 0.5)

    def down(y: float) -> float:
        return TOP + (LINE_HEIGHT - TOP - BOTTOM) * (1 - y / most)

    inside = _grid(plot, xs, most, across, down)
    for place, (name, line) in enumerate(plot.lines.items()):
        colour, dash = COLOURS[place % len(COLOURS)], DASHES[place % len(DASHES)]
        places = [(across(float(x)), down(y)) for x, y in line]
        path = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in places)
        inside.append(
            element(
                "path", d=path, fill="none", stroke=colour, stroke_width=2, stroke_dasharray=dash
            )
        )
        for (x, y), (px, py) in zip(line, places, strict=True):
            said = f"<title>{words(f'{name}: {x:,.0f} {plot.x}, {y:.4g} {plot.y}')}</title>"
            inside.append(element("circle", said, cx=px, cy=py, r=3.5, fill=colour))
    return _svg(plot, LINE_HEIGHT, [*inside, *_legend(list(plot.lines))])


def _grid(plot: Plot, xs: list[float], most: float, across: Place, down: Place) -> list[str]:
    ticks = xs if len(xs) <= 8 else [xs[0], xs[len(xs) // 4], xs[len(xs) // 2], xs[-1]]
    inside = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = down(share * most)
        inside.append(element("line", class_="g", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y))
        label = f"{share * most:,.4g}"
        inside.append(element("text", label, x=LEFT - 8, y=y + 4, text_anchor="end"))
    for x in ticks:
        place: Attributes = {
            "x": across(x),
            "y": LINE_HEIGHT - BOTTOM + 20,
            "text_anchor": "middle",
        }
        inside.append(element("text", short(x), **place))
    unit: Attributes = {"x": WIDTH - RIGHT, "y": LINE_HEIGHT - 10, "text_anchor": "end"}
    inside.append(element("text", words(plot.x), **unit))
    return [*inside, element("text", words(plot.y), x=8, y=TOP - 8)]


def short(value: float) -> str:
    """Write a number of jobs as 1k or 1M."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def _bars(plot: Plot) -> str:
    names = list(dict.fromkeys(str(x) for line in plot.lines.values() for x, _ in line))
    values = {name: {str(x): y for x, y in line} for name, line in plot.lines.items()}
    totals = {name: sum(line.get(name, 0.0) for line in values.values()) for name in names}
    scale = (WIDTH - LABEL_WIDTH - LEFT - RIGHT) / nice_top(max(totals.values()))
    inside, height = [], TOP + len(names) * (BAR_HEIGHT + BAR_GAP)
    for row, name in enumerate(names):
        y, x = TOP + row * (BAR_HEIGHT + BAR_GAP), float(LABEL_WIDTH)
        label: Attributes = {"x": LABEL_WIDTH - 8, "y": y + 17, "text_anchor": "end"}
        inside.append(element("text", words(name, 28), **label))
        for place, (kind, line) in enumerate(values.items()):
            width = max(line.get(name, 0.0), 0.0) * scale
            said = f"<title>{words(f'{name}, {kind}: {line.get(name, 0.0):.4g} {plot.y}')}</title>"
            bar: Attributes = {"x": x, "y": y, "width": width, "height": BAR_HEIGHT}
            inside.append(element("rect", said, fill=COLOURS[place % len(COLOURS)], **bar))
            x += width
        inside.append(element("text", f"{totals[name]:,.3g} {words(plot.y)}", x=x + 8, y=y + 17))
    return _svg(plot, height + 8, [*inside, *_legend([name for name in values if name])])


def _legend(names: Sequence[str]) -> list[str]:
    if len(names) < 2:
        return []
    inside, x = [], float(LEFT)
    for place, name in enumerate(names):
        colour, dash = COLOURS[place % len(COLOURS)], DASHES[place % len(DASHES)]
        key: Attributes = {"x1": x, "x2": x + 24, "y1": 33, "y2": 33}
        inside.append(element("line", stroke=colour, stroke_width=3, stroke_dasharray=dash, **key))
        inside.append(element("text", words(name), x=x + 30, y=37))
        x += 48 + 7.2 * len(name)
    return inside
