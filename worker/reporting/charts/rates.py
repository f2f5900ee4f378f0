"""Done and failed over time: done as an area, failed as strokes below it, gaps shaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from worker.reporting.charts.bands import Band, named, shaded
from worker.reporting.charts.svg import element, number, picture, stretched, words
from worker.reporting.charts.time_axis import TimeAxis, written

TOP, DONE_HEIGHT, GAP, FAILED_HEIGHT = 24, 116, 18, 44
DONE_LINE = TOP + DONE_HEIGHT
FAILED_TOP = DONE_LINE + GAP
BOTTOM = FAILED_TOP + FAILED_HEIGHT
HEIGHT = BOTTOM + 24


@dataclass(frozen=True, slots=True)
class Point:
    """What ended in one column: a minute, an hour."""

    start: datetime
    done: int
    failed: int


@dataclass(frozen=True, slots=True)
class RateChart:
    """The whole picture. `now`, `ready_at` and `deadline` are drawn where they are given."""

    axis: TimeAxis
    column_seconds: float
    points: Sequence[Point]
    title: str
    description: str
    bands: Sequence[Band] = field(default=())
    now: datetime | None = None
    # When the rest will be done if it goes on so, and at which rate per column.
    ready_at: datetime | None = None
    ready_rate: float = 0.0
    deadline: datetime | None = None
    name: str = "rates"


def draw(chart: RateChart) -> str:
    """Draw it, with the scales and times written."""
    most = rounded_up(max((point.done for point in chart.points), default=0))
    worst = rounded_up(max((point.failed for point in chart.points), default=0))
    inside = [
        shaded(chart.axis, chart.bands, TOP, BOTTOM - TOP),
        _across("grid", TOP + 0.5),
        _across("grid", TOP + DONE_HEIGHT / 2 + 0.5),
        stretched(_columns(chart), DONE_HEIGHT, TOP, [_area(chart, most)]),
        _across("axis", DONE_LINE + 0.5),
        stretched(_columns(chart), FAILED_HEIGHT, FAILED_TOP, [_strokes(chart, worst)]),
        _across("axis", BOTTOM + 0.5),
        *_moments(chart, most),
        f'<text class="halo" x="0" y="{TOP + 14}">{most:,} done</text>',
        f'<text class="halo" x="0" y="{FAILED_TOP + 10}">{worst:,} failed</text>',
        named(chart.axis, chart.bands, ends_at=_clear_until(chart)),
        written(chart.axis, BOTTOM + 20, BOTTOM, BOTTOM + 4, "axis"),
    ]
    return picture(chart.name, chart.title, chart.description, HEIGHT, inside)


def rounded_up(most: int) -> int:
    """Give a round number that is not less: 1, 2, 5, 10, 20, 50, and so on."""
    scale = 1
    while True:
        for factor in (1, 2, 5):
            if factor * scale >= most:
                return factor * scale
        scale *= 10


def _columns(chart: RateChart) -> float:
    return chart.axis.seconds / chart.column_seconds


def _place(chart: RateChart, point: Point) -> float:
    return (point.start - chart.axis.start).total_seconds() / chart.column_seconds


def _area(chart: RateChart, most: int) -> str:
    """Draw what was done as steps; where nothing ended, the line lies on the ground."""
    steps, reached = [f"M0 {DONE_HEIGHT}"], 0.0
    for point in chart.points:
        x = _place(chart, point)
        if x - reached > 1e-6:
            steps.append(f"V{DONE_HEIGHT}H{number(x)}")
        y = DONE_HEIGHT * (1 - point.done / most)
        steps.append(f"V{number(y)}H{number(x + 1)}")
        reached = x + 1
    path = "".join(steps) + f"V{DONE_HEIGHT}z"
    return element("path", class_="area", vector_effect="non-scaling-stroke", d=path)


def _strokes(chart: RateChart, worst: int) -> str:
    path = "".join(
        f"M{number(_place(chart, point) + 0.5)} {FAILED_HEIGHT}"
        f"v-{number(max(2.0, FAILED_HEIGHT * point.failed / worst))}"
        for point in chart.points
        if point.failed
    )
    if not path:
        return ""
    return element(
        "path", class_="s-bad", stroke_width=1.6, vector_effect="non-scaling-stroke", d=path
    )


def _across(kind: str, y: float) -> str:
    return element("line", class_=kind, x1="0", x2="100%", y1=y, y2=y)


def _clear_until(chart: RateChart) -> float:
    return 1.0 if chart.now is None else chart.axis.share(chart.now) - 0.02


def _moments(chart: RateChart, most: int) -> list[str]:
    axis, parts = chart.axis, []
    if chart.now is not None:
        x = axis.at(chart.now)
        parts.append(element("line", class_="now", x1=x, x2=x, y1=TOP - 4, y2=BOTTOM))
        text = '<text class="strong" x="6" y="15">now</text>'
        if axis.share(chart.now) > 0.9:
            text = '<text class="strong end" x="4" y="15">now</text>'
        parts.append(f'<svg x="{x}" overflow="visible">{text}</svg>')
    if chart.now is not None and chart.ready_at is not None:
        y = TOP + DONE_HEIGHT * (1 - min(chart.ready_rate / most, 1.0))
        start, end = axis.at(chart.now), axis.at(chart.ready_at)
        parts.append(element("line", class_="dash", x1=start, x2=end, y1=y, y2=y))
        parts.append(element("line", class_="dash", x1=end, x2=end, y1=y, y2=DONE_LINE))
        text = words(axis.text(chart.ready_at))
        parts.append(
            f'<svg x="{end}" overflow="visible"><text class="strong end halo" x="-6"'
            f' y="{DONE_LINE - 8}">{text}</text></svg>'
        )
    if chart.deadline is not None:
        x = axis.at(chart.deadline)
        parts.append(element("line", class_="edge", x1=x, x2=x, y1=TOP - 4, y2=BOTTOM))
        parts.append(f'<text class="end" x="{x}" y="15">{words(axis.text(chart.deadline))}</text>')
    return parts
