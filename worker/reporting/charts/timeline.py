"""The timeline of a night: one lane per worker, with what it did, restarts, and what held it up.

In a lane, done is above the line, tried again on top of it, failed below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from worker.reporting.charts.bands import Band, named, shaded
from worker.reporting.charts.marks import Mark, placed
from worker.reporting.charts.svg import element, number, picture, stretched, words
from worker.reporting.charts.time_axis import TimeAxis, written

TOP, LANE, APART = 26, 32, 56
# How high the tallest column is, above and below the line; the least that can be seen.
ABOVE, BELOW, LEAST = 28.0, 12.0, 2.6
MOST_RESTARTS = 60
# Columns whose edges are this close, in columns, touch.
NEXT_TO = 1e-6
_GROUND = f"V{LANE}z"


@dataclass(frozen=True, slots=True)
class Cell:
    """What a worker did in one column."""

    start: datetime
    done: int
    again: int
    failed: int


@dataclass(frozen=True, slots=True)
class Moment:
    """Something at one time, with its words."""

    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """One lane: its name in the margin, what it says when pointed at, its cells, its restarts."""

    name: str
    text: str
    cells: Sequence[Cell] = ()
    restarts: Sequence[Moment] = ()


@dataclass(frozen=True, slots=True)
class LaneChart:
    """The whole picture. `ended` is the moment when all was over, if it was."""

    axis: TimeAxis
    column_seconds: float
    rows: Sequence[Row]
    title: str
    description: str
    bands: Sequence[Band] = field(default=())
    ended: Moment | None = None
    name: str = "timeline"


def names(chart: LaneChart) -> str:
    """Draw the names of the lanes, for the margin left of the chart."""
    rows = "".join(
        f'<text class="lane" x="0" y="{TOP + APART * place + 29}">{words(row.name, 12)}</text>'
        for place, row in enumerate(chart.rows)
    )
    return f'<svg class="chart" height="{_height(chart)}" aria-hidden="true">{rows}</svg>'


def draw(chart: LaneChart) -> str:
    """Draw the lanes and what lies over them."""
    bottom = TOP + APART * len(chart.rows)
    most = max((cell.done + cell.again for row in chart.rows for cell in row.cells), default=0)
    worst = max((cell.failed for row in chart.rows for cell in row.cells), default=0)
    inside = [written(chart.axis, bottom + 18, TOP - 4, bottom)]
    for place, row in enumerate(chart.rows):
        inside.append(_lane(chart, row, TOP + APART * place, max(most, 1), max(worst, 1)))
    inside.append(shaded(chart.axis, chart.bands, TOP - 4, bottom - TOP))
    inside += [_restarts(chart, row, TOP + APART * place) for place, row in enumerate(chart.rows)]
    inside.append(_over(chart, bottom))
    return picture(chart.name, chart.title, chart.description, _height(chart), inside)


def _height(chart: LaneChart) -> int:
    return TOP + APART * len(chart.rows) + 22


def _lane(chart: LaneChart, row: Row, top: float, most: int, worst: int) -> str:
    columns = chart.axis.seconds / chart.column_seconds
    ground = top + LANE + 0.5
    return (
        f"<g><title>{words(row.text)}</title>"
        f'<rect class="f-sunk" y="{top:g}" width="100%" height="{LANE}" rx="2"/>'
        f"{stretched(columns, LANE + BELOW + 2, top, _paths(chart, row, most, worst))}"
        f"{element('line', class_='axis', x1='0', x2='100%', y1=ground, y2=ground)}</g>"
    )


def _paths(chart: LaneChart, row: Row, most: int, worst: int) -> Iterator[str]:
    done, again, failed = "", "", ""
    reached = -1.0
    for cell in row.cells:
        x = (cell.start - chart.axis.start).total_seconds() / chart.column_seconds
        y = LANE - ABOVE * cell.done / most
        if cell.done:
            # A new piece begins where the column before did nothing.
            if abs(x - reached) > NEXT_TO:
                done += f"{_GROUND if done else ''}M{number(x)} {LANE}"
            done += f"V{number(y)}H{number(x + 1)}"
            reached = x + 1
        if cell.again:
            height = max(ABOVE * cell.again / most, 0.4)
            again += _block(x, y - height, height)
        if cell.failed:
            failed += _block(x, LANE + 1.5, max(LEAST, BELOW * cell.failed / worst))
    if done:
        path = done + _GROUND
        yield element("path", class_="area", vector_effect="non-scaling-stroke", d=path)
    if again:
        yield element("path", class_="f-warn", d=again)
    if failed:
        yield element("path", class_="f-bad", d=failed)


def _block(x: float, y: float, height: float) -> str:
    return f"M{number(x)} {number(y)}h1v{number(height)}h-1z"


def _restarts(chart: LaneChart, row: Row, top: float) -> str:
    middle = top + LANE / 2
    return "".join(
        f'<svg x="{chart.axis.at(restart.at)}" overflow="visible">'
        f"<title>{words(restart.text)}</title>"
        f'<circle r="9" cx="0" cy="{number(middle)}" class="disc"/>'
        f"{placed(Mark.RESTARTED, -7, middle - 7)}</svg>"
        for restart in row.restarts[:MOST_RESTARTS]
    )


def _over(chart: LaneChart, bottom: float) -> str:
    """Draw the marks over the lanes, and the line where it all ended."""
    if chart.ended is None:
        return named(chart.axis, chart.bands)
    x = chart.axis.share(chart.ended.at)
    side, shift = ("end", 4) if x > 0.5 else ("", -4)
    text = (
        f'<text class="{f"strong {side}".strip()}" x="{shift}" y="15">'
        f'<tspan class="wide lab">{words(chart.ended.text, 24)} </tspan>'
        f"{chart.axis.text(chart.ended.at)}</text>"
    )
    line = element("line", class_="now", y1=TOP - 4, y2=bottom - 4)
    over = f'<svg x="{100 * x:.2f}%" overflow="visible">{line}{text}</svg>'
    clear = [band for band in chart.bands if x - chart.axis.share(band.start) > 0.12]
    return named(chart.axis, clear, ends_at=x - 0.1) + over
