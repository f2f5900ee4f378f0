"""*Timeline*: what happened when, on which worker, and what it cost; moved and zoomed by links."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from flask import Blueprint, render_template, request, url_for

from worker.dashboard import charting, filters, timeline_words
from worker.dashboard.event_lines import EventLine, lines_of
from worker.dashboard.facts import NIGHT, Facts
from worker.dashboard.services import database, facts, services, told_at
from worker.dashboard.wording import Clock
from worker.errors import UsageError
from worker.reporting import events as happenings
from worker.reporting import lanes, nights
from worker.reporting.charts.marks import Mark
from worker.reporting.events import Event, Kind
from worker.reporting.lanes import Lane, Timeline

HOURS = {
    "30m": ("30 min", 0.5), "2h": ("2 h", 2.0), "12h": ("12 h", 12.0), "24h": ("24 h", 24.0),
    "3d": ("3 days", 72.0),
}  # fmt: skip
USUAL = NIGHT_KEY = "12h"
# Minutes are kept a little longer than this.
FURTHEST = timedelta(days=7)
MOST_LANES = 24
MOST_GROUPS = 20
COLUMNS = 240
STAMP = "%Y-%m-%dT%H:%M"

pages = Blueprint("timeline", __name__)


@dataclass(frozen=True, slots=True)
class Window:
    """The stretch of time that is shown, and the ones around it; times are UTC."""

    key: str
    until: datetime
    now: datetime

    @property
    def length(self) -> timedelta:
        """How long it is."""
        return timedelta(hours=HOURS[self.key][1])

    @property
    def since(self) -> datetime:
        """When it begins."""
        return self.until - self.length

    @property
    def is_live(self) -> bool:
        """Whether it ends now."""
        return self.until == self.now

    def link(self, key: str | None = None, by: float = 0.0) -> dict[str, str] | None:
        """Give the address of another window: of another range, or `by` lengths further on.

        Another range keeps the middle; None where nothing is kept any more.
        """
        other = key or self.key
        until = self.until + by * self.length
        if not self.is_live:
            until += (timedelta(hours=HOURS[other][1]) - self.length) / 2
        if until >= self.now:
            return {"range": other}
        if until < self.now - FURTHEST:
            return None
        return {"range": other, "until": until.strftime(STAMP)}

    def night_before(self, clock: Clock) -> tuple[str, dict[str, str]] | None:
        """Name the night before the one that this window ends in, with its address."""
        begins = nights.beginning(self.until - timedelta(seconds=1), clock.zone)
        before = nights.beginning(begins - timedelta(seconds=1), clock.zone)
        until = before + timedelta(hours=HOURS[NIGHT_KEY][1])
        if until < self.now - FURTHEST:
            return None
        name = f"Night of {clock.local(before):%-d %b}"
        return name, {"range": NIGHT_KEY, "until": until.strftime(STAMP)}


@pages.get("/timeline")
def page() -> str:
    """Draw a lane for each worker, and tell the same in tables."""
    known, clock = facts(), services().clock
    told_at(known.at)
    window = _asked_for(known.at)
    told = lanes.timeline(database(), window.since, window.until, COLUMNS)
    shown = [lane for lane in told.lanes if lane.columns or lane.lives]
    drawn = Timeline(told.start, told.end, told.column_seconds, shown[-MOST_LANES:])
    events = _events(window, drawn)
    names, chart = charting.lanes(drawn, events, clock)
    rows = [(lane, _came_to(lane, window.since, window.until)) for lane in drawn.lanes]
    return render_template(
        "timeline.html",
        names=names,
        chart=chart,
        lanes=rows,
        total={name: sum(sums[name] for _, sums in rows) for name in ("done", "failed", "again")},
        left_out=len(shown) - len(drawn.lanes),
        title=timeline_words.title(events, window.until, clock, is_live=window.is_live),
        said=timeline_words.facts_of(events, window.since, window.until, clock),
        recovered=_recovered(known, window),
        reasons=timeline_words.reasons_of,
        night_before=window.night_before(clock),
        events=_lines(events, known, window, clock),
        costs=_costs(events, window.since, window.until),
        ranges=HOURS,
        window=window,
    )


def _asked_for(now: datetime) -> Window:
    """Read the window from the address; without a time it ends now."""
    key, given = filters.choice("range", HOURS, USUAL), request.args.get("until", "")
    try:
        until = datetime.strptime(given, STAMP) if given else now  # noqa: DTZ007 - it is UTC
    except ValueError:
        raise UsageError(
            f"until={filters.shown(given)} is no time; write 2026-01-31T18:00, in UTC"
        ) from None
    return Window(key, min(max(until, now - FURTHEST), now), now)


def _events(window: Window, drawn: Timeline) -> list[Event]:
    """List what happened in the window: as is known of the last day, or else as is read now."""
    since, until = window.since, window.until
    found = list(facts().events)
    if window.now - since > timedelta(days=1):
        kinds = (Kind.PAUSE, Kind.OUTAGE, Kind.BREAKER)
        found = happenings.between(database(), since, until, kinds)
        found += [life for lane in drawn.lanes for life in lane.lives]
    return [
        event for event in found if event.began_at < until and (event.ended_at or until) > since
    ]


def _lines(events: list[Event], known: Facts, window: Window, clock: Clock) -> list[EventLine]:
    """Tell what happened, and when each kind of failure was first seen, in order."""
    first = [
        EventLine(
            group.row["first_seen"], Mark.FAILED,
            f"First of {group.jobs:,}: {group.row['label']}"[:200],
            f"{group.site or group.row['task']}, until {clock.hour(group.row['last_seen'])}",
            link=url_for("errors.page", range="all", _anchor=f"g-{group.key}"),
            is_new=group.is_new,
        )
        for group in known.shown_groups
        if window.since <= group.row["first_seen"] < window.until
    ]  # fmt: skip
    told = lines_of(events, clock, joined=True) + first[:MOST_GROUPS]
    return sorted(told, key=lambda line: line.at)


def _recovered(known: Facts, window: Window) -> int | None:
    """Count the jobs that were done by retry; None where minutes are not at hand any more."""
    if window.since < known.at - NIGHT:
        return None
    return sum(
        each.recovered for each in known.minutes if window.since <= each.start < window.until
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
    """Add up how long the pool was paused, and the database away; count what happened."""

    def of(kind: Kind) -> list[Event]:
        # A queue's pause cost the others nothing.
        return [
            event
            for event in events
            if event.kind is kind and not (kind is Kind.PAUSE and event.name)
        ]

    def seconds(kind: Kind) -> float:
        return sum(
            (min(event.ended_at or until, until) - max(event.began_at, since)).total_seconds()
            for event in of(kind)
        )

    restarts = [event for event in of(Kind.WORKER) if event.restarts and event.began_at >= since]
    return {
        "paused": seconds(Kind.PAUSE),
        "pauses": float(len(of(Kind.PAUSE))),
        "away": seconds(Kind.OUTAGE),
        "outages": float(len(of(Kind.OUTAGE))),
        "open": seconds(Kind.BREAKER),
        "breakers": float(len(of(Kind.BREAKER))),
        "restarts": float(len(restarts)),
    }
