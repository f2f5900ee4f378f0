"""What happened, as lines for people: restarts, pauses, outages, breakers and runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from worker.dashboard.wording import Clock, about
from worker.reporting.charts.marks import Mark
from worker.reporting.events import Event, Kind


@dataclass(frozen=True, slots=True)
class EventLine:
    """One line, with what there is to add to it."""

    at: datetime
    mark: Mark
    text: str
    more: str = ""


def lines_of(events: Iterable[Event], clock: Clock, limit: int = 100) -> list[EventLine]:
    """Tell the latest events that a person wants to know of."""
    lines: list[EventLine] = []
    events = list(events)
    endings = _endings_before(events)
    for event in sorted(events, key=lambda each: each.began_at, reverse=True):
        if event.kind is Kind.WORKER and not event.restarts:
            continue
        lines.append(_line(event, clock, endings.get(id(event), "")))
        if len(lines) >= limit:
            break
    return lines


def _endings_before(events: Iterable[Event]) -> dict[int, str]:
    """Find for every life of a worker how the one before it ended in the same place."""
    found: dict[int, str] = {}
    last: dict[tuple[int | None, int | None], str] = {}
    for event in sorted(events, key=lambda each: each.began_at):
        if event.kind is Kind.WORKER:
            place = (event.run_id, event.slot)
            found[id(event)] = last.get(place, "")
            last[place] = event.why
    return found


def _line(event: Event, clock: Clock, ending: str) -> EventLine:
    lasted = ""
    if event.ended_at is not None:
        lasted = f" for {about((event.ended_at - event.began_at).total_seconds())}"
    elif event.kind is not Kind.RUN:
        lasted = ", and it goes on"
    match event.kind:
        case Kind.WORKER:
            text = f"Worker {event.slot} restarted" + (f": {ending}" if ending else "")
            times = "the first time" if event.restarts == 1 else f"{event.restarts} times by then"
            return EventLine(event.began_at, Mark.RESTARTED, text, f"run {event.run_id}, {times}")
        case Kind.PAUSE:
            by = event.detail.get("by", "somebody")
            more = f"“{event.why}”" if event.why else ""
            what = f"Queue {event.name} paused" if event.name else "Paused"
            return EventLine(event.began_at, Mark.PAUSED, f"{what}{lasted} by {by}", more)
        case Kind.OUTAGE:
            text = f"Database away{lasted}"
            return EventLine(event.began_at, Mark.OUTAGE, text, f"as {event.name} saw it")
        case Kind.BREAKER:
            name = event.name.removeprefix("site:")
            text = f"Breaker of {name} open{lasted}"
            return EventLine(event.began_at, Mark.HELD_BACK, text, event.why)
    if event.ended_at is None:
        return EventLine(event.began_at, Mark.RUNNING, f"Run {event.run_id} began on {event.name}")
    mark = Mark.FAILED if event.why == "killed" else Mark.DONE
    text = f"Run {event.run_id} on {event.name}: {event.why}"
    return EventLine(event.began_at, mark, text, f"until {clock.second(event.ended_at)}")
