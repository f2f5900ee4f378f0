"""*Timeline*: what happened when, on which worker, and what it cost."""

from __future__ import annotations

from datetime import datetime, timedelta

from flask import Blueprint, render_template, request

from worker.dashboard import charting
from worker.dashboard.event_lines import lines_of
from worker.dashboard.services import database, facts, services, told_at
from worker.reporting import lanes
from worker.reporting.events import Event, Kind
from worker.reporting.lanes import Lane, Timeline

HOURS = {"2h": ("2 h", 2), "12h": ("12 h", 12), "24h": ("24 h", 24), "3d": ("3 days", 72)}
MOST_LANES = 24
COLUMNS = 240

pages = Blueprint("timeline", __name__)


@pages.get("/timeline")
def page() -> str:
    """Draw a lane for each worker, and tell the same in tables."""
    known, clock = facts(), services().clock
    told_at(known.at)
    chosen = request.args.get("range", "12h")
    chosen = chosen if chosen in HOURS else "12h"
    until = known.at
    since = until - timedelta(hours=HOURS[chosen][1])
    told = lanes.timeline(database(), since, until, COLUMNS)
    shown = [lane for lane in told.lanes if lane.columns or lane.lives]
    drawn = Timeline(told.start, told.end, told.column_seconds, shown[-MOST_LANES:])
    events = [event for event in known.events if (event.ended_at or until) > since]
    names, chart = charting.lanes(drawn, events, clock)
    return render_template(
        "timeline.html",
        names=names,
        chart=chart,
        lanes=[(lane, _came_to(lane, since, until)) for lane in drawn.lanes],
        left_out=len(shown) - len(drawn.lanes),
        events=lines_of(events, clock),
        costs=_costs(events, since, until),
        ranges=HOURS,
        chosen=chosen,
        since=told.start,
        until=until,
    )


def _came_to(lane: Lane, since: datetime, until: datetime) -> dict[str, float]:
    busy = sum(column.busy_seconds for column in lane.columns)
    lived = sum(
        (min(life.ended_at or until, until) - max(life.began_at, since)).total_seconds()
        for life in lane.lives
    )
    return {
        "done": sum(column.done for column in lane.columns),
        "failed": sum(column.failed for column in lane.columns),
        "again": sum(column.again for column in lane.columns),
        "busy": min(busy / lived, 1.0) if lived > 0 else 0.0,
    }


def _costs(events: list[Event], since: datetime, until: datetime) -> dict[str, float]:
    """Add up how long the pool was paused, and the database away."""

    def seconds(kind: Kind) -> float:
        return sum(
            (min(event.ended_at or until, until) - max(event.began_at, since)).total_seconds()
            for event in events
            if event.kind is kind
        )

    restarts = [event for event in events if event.kind is Kind.WORKER and event.restarts]
    return {
        "paused": seconds(Kind.PAUSE),
        "away": seconds(Kind.OUTAGE),
        "breakers": float(sum(event.kind is Kind.BREAKER for event in events)),
        "restarts": float(len(restarts)),
    }
