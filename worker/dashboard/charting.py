"""From what the rooms below know to the charts: pace, timeline, trends; times in the local zone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from markupsafe import Markup

from worker.dashboard.facts import Facts
from worker.dashboard.failed_groups import BUCKETS, Group
from worker.dashboard.overview import Now
from worker.dashboard.pictures import drawn
from worker.dashboard.queue_facts import BatchNow
from worker.dashboard.wording import Clock, about, counted
from worker.database.client import Row
from worker.reporting.charts import bars as bars_chart
from worker.reporting.charts import rates, shares, timeline, trend
from worker.reporting.charts.bands import Band, Shade
from worker.reporting.charts.bars import Bar
from worker.reporting.charts.rates import Point, RateChart
from worker.reporting.charts.shares import Part
from worker.reporting.charts.time_axis import TimeAxis
from worker.reporting.charts.timeline import Cell, LaneChart, Moment
from worker.reporting.charts.timeline import Row as LaneRow
from worker.reporting.events import Event, Kind
from worker.reporting.lanes import Lane, Timeline

# One attempt is told in words well enough.
LEAST_ATTEMPTS = 2
SHADES = {Kind.PAUSE: Shade.PAUSE, Kind.OUTAGE: Shade.OUTAGE, Kind.BREAKER: Shade.BREAKER}


def pace(now: Now, clock: Clock) -> Markup:
    """Draw done and failed over time, with what held the pool up."""
    ready_at = now.ready_at if _is_near(now, now.ready_at) else None
    deadline = now.deadline if _is_near(now, now.deadline) else None
    ends = [end for end in (ready_at, deadline) if end is not None]
    axis = TimeAxis.around(now.since, max(ends, default=now.at), clock.zone)
    points = [Point(each.start, each.done, each.failed) for each in now.series]
    column = now.range.span.length.total_seconds()
    per = now.range.span.name
    chart = RateChart(
        axis=axis,
        column_seconds=column,
        points=points,
        title=f"Jobs done and failed per {per}, {clock.hour(now.since)} to {clock.hour(now.at)}",
        description=f"{counted(now.totals.done, 'job')} done and {now.totals.failed:,} failed.",
        bands=bands(now.facts.events, now.since, now.at),
        now=now.at,
        ready_at=ready_at,
        deadline=deadline,
        ready_rate=now.per_minute * column / 60,
        name="pace",
    )
    return drawn(rates.draw(chart))


def _is_near(now: Now, moment: datetime | None) -> bool:
    """Tell whether an end is near enough to be drawn beside what was."""
    return moment is not None and now.at < moment <= now.at + 1.5 * (now.at - now.since)


def attempts(history: Sequence[Row], clock: Clock) -> Markup:
    """Draw when each attempt of a job ran, and how long it waited in between."""
    ran = [row for row in history if row["started_at"] and row["finished_at"]]
    if len(ran) < LEAST_ATTEMPTS:
        return Markup("")
    axis = TimeAxis.around(ran[0]["started_at"], ran[-1]["finished_at"], clock.zone)
    bars = [
        Bar(
            row["started_at"], row["finished_at"], _colour(row["outcome"], is_last=row is ran[-1]),
            f"attempt {row['attempt']}, {clock.second(row['started_at'])}: "
            f"{row['outcome'].replace('_', ' ')}",
            name=str(row["attempt"]), gap=_waited(ran[place - 1], row) if place else "",
        )
        for place, row in enumerate(ran)
    ]  # fmt: skip
    title = f"{len(ran)} attempts from {clock.second(axis.start)} to {clock.second(axis.end)}"
    return drawn(bars_chart.draw(axis, bars, title))


def _waited(before: Row, row: Row) -> str:
    """Say how long a job waited between two attempts."""
    seconds = (row["started_at"] - before["finished_at"]).total_seconds()
    return f"wait {about(seconds)}" if seconds >= 1 else ""


def _colour(outcome: str, *, is_last: bool) -> str:
    if outcome == "done":
        return "f-ok"
    return "f-bad" if is_last and outcome != "handed_back" else "f-warn"


def queue(counts: dict[str, int], facts: Facts) -> Markup:
    """Draw all jobs by where they are."""
    held = min(facts.held_jobs, counts["pending"])
    parts = [
        Part(counts["done"], "f-ok", f"{counts['done']:,} done"),
        Part(counts["error"], "f-bad", f"{counts['error']:,} failed"),
        Part(counts["in_progress"], "f-run", f"{counts['in_progress']:,} in progress"),
        Part(held, "f-hold", f"{held:,} held back", is_hatched=True),
        Part(counts["pending"] - held, "f-wait", f"{counts['pending'] - held:,} waiting"),
    ]
    return drawn(shares.stacked(parts))


def batch(told: BatchNow) -> Markup:
    """Draw how the jobs of a batch stand."""
    done, failed = told.row["done"] or 0, told.row["failed"] or 0
    left, text = told.row["cancelled"] or 0, "cancelled"
    if told.count is not None:
        done, failed, left = told.count.done, told.count.failed, told.count.unfinished
        text = "to go"
    parts = [
        Part(done, "f-ok", f"{done:,} done"),
        Part(failed, "f-bad", f"{failed:,} failed"),
        Part(left, "f-wait", f"{left:,} {text}"),
    ]
    return drawn(shares.stacked(parts))


def group_trend(group: Group, facts: Facts, clock: Clock) -> Markup:
    """Draw when the failures of a group happened."""
    if group.trend_start is None or not any(group.trend):
        return Markup("")
    width = max((facts.at - group.trend_start) / BUCKETS, timedelta(minutes=1))
    began = clock.hour(group.trend_start)
    ended = clock.hour(min(group.trend_start + len(group.trend) * width, facts.at))
    most = max(group.trend)
    span = about(width.total_seconds())
    return drawn(
        trend.bars(
            group.trend,
            label=f"Failures per {span} from {began} to {ended}, at most {most}",
            left=began,
            middle=f"per {span}, at most {most}",
            right=ended,
        )
    )


def lanes(told: Timeline, events: Iterable[Event], clock: Clock) -> tuple[Markup, Markup]:
    """Draw a lane for each worker; returns the names for the margin, and the chart."""
    axis = TimeAxis.around(told.start, told.end, clock.zone)
    chart = LaneChart(
        axis=axis,
        column_seconds=told.column_seconds,
        rows=[_row(lane, clock) for lane in told.lanes],
        title=f"What each worker did, {clock.day(told.start)} to {clock.hour(told.end)}",
        description=f"{counted(len(told.lanes), 'lane')}; the tables below say the same in words.",
        bands=bands(events, told.start, told.end),
    )
    return drawn(timeline.names(chart)), drawn(timeline.draw(chart))


def bands(events: Iterable[Event], since: datetime, until: datetime) -> Sequence[Band]:
    """Give what held the pool up as bands."""
    return [
        Band(SHADES[event.kind], max(event.began_at, since), min(end, until), _text(event, end))
        for event in events
        if holds_all_up(event)
        and event.began_at < until
        and (end := event.ended_at or until) > since
    ]


def holds_all_up(event: Event) -> bool:
    """Tell whether an event held up the whole pool, or a site: a queue's pause is that queue's."""
    return event.kind in SHADES and not (event.kind is Kind.PAUSE and event.name)


def _text(event: Event, end: datetime) -> str:
    lasted = about((end - event.began_at).total_seconds())
    if event.kind is Kind.PAUSE:
        return f"paused {lasted}"
    if event.kind is Kind.OUTAGE:
        return f"database away {lasted}"
    return f"breaker {event.name.removeprefix('site:')}"


def _row(lane: Lane, clock: Clock) -> LaneRow:
    done = sum(column.done for column in lane.columns)
    failed = sum(column.failed for column in lane.columns)
    restarts = [
        Moment(life.began_at, f"restarted {clock.second(life.began_at)}")
        for life in lane.lives
        if life.restarts
    ]
    return LaneRow(
        name=str(lane.slot),
        text=f"Worker {lane.slot} of run {lane.run_id}: {done:,} done, {failed:,} failed",
        cells=[Cell(each.start, each.done, each.again, each.failed) for each in lane.columns],
        restarts=restarts,
    )
