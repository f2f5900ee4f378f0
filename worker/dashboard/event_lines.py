"""What happened, as lines for people: restarts, pauses, outages, breakers and runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from worker.dashboard.wording import Clock, about
from worker.recovery.live_runs import ended_well
from worker.reporting.charts.marks import Mark
from worker.reporting.events import Event, Kind

MOST_TIMES = 6


@dataclass(frozen=True, slots=True)
class EventLine:
    """One line, with what there is to add to it."""

    at: datetime
    mark: Mark
    text: str
    more: str = ""
    # Where more of it is shown, and whether nobody had seen it before.
    link: str = ""
    is_new: bool = False


def lines_of(
    events: Iterable[Event], clock: Clock, limit: int = 100, *, joined: bool = False
) -> list[EventLine]:
    """Tell the latest events that a person wants to know of.

    `joined`: a worker that was restarted again for the same reason is told of once.
    """
    lines: list[EventLine] = []
    events = list(events)
    endings = _endings_before(events)
    for event in sorted(events, key=lambda each: each.began_at, reverse=True):
        if event.kind is Kind.WORKER and (joined or not event.restarts):
            continue
        lines.append(_line(event, clock, endings.get(id(event), "")))
        if len(lines) >= limit:
            break
    return lines + (_joined(events, clock, endings)[:limit] if joined else [])


def _joined(events: list[Event], clock: Clock, endings: dict[int, str]) -> list[EventLine]:
    """Tell of the restarts of each worker for each reason: of the first, and when it was again."""
    found: dict[tuple[int | None, int | None, str], list[Event]] = {}
    for event in sorted(events, key=lambda each: each.began_at):
        if event.kind is Kind.WORKER and event.restarts:
            key = (event.run_id, event.slot, endings.get(id(event), ""))
            found.setdefault(key, []).append(event)
    lines = []
    for (_, _, ending), (first, *others) in found.items():
        line = _line(first, clock, ending)
        again = [clock.near(each.began_at, first.began_at) for each in others]
        lines.append(replace(line, more=f"again at {_listed(again)}") if again else line)
    return lines


def _listed(times: list[str]) -> str:
    """Write `23:55, 02:14 and 04:33`, or how many more there were."""
    shown, rest = times[:MOST_TIMES], len(times) - MOST_TIMES
    if rest > 0:
        return f"{', '.join(shown)} and {rest:,} times more"
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def last_run(events: Iterable[Event], clock: Clock) -> str:
    """Tell how the latest run stands: `Run 118 ended at 05:52: drained.`; empty without one."""
    runs = [event for event in events if event.kind is Kind.RUN]
    if not runs:
        return ""
    alive = [run for run in runs if run.ended_at is None]
    if alive:
        return f"Run {alive[-1].run_id} is at work."
    last = max(runs, key=lambda run: run.ended_at or run.began_at)
    return f"Run {last.run_id} ended at {clock.hour(last.ended_at)}: {last.why}."


def legend(
    events: Iterable[Event], since: datetime, until: datetime, clock: Clock
) -> list[tuple[Mark, str]]:
    """Say of each kind of shaded stretch when it was and for how long; of several, how often."""
    found = []
    for kind, (mark, words) in _SHADED.items():
        mine = [
            event
            for event in events
            if event.kind is kind
            and not (kind is Kind.PAUSE and event.name)
            and event.began_at < until
            and (event.ended_at or until) > since
        ]
        if mine:
            found.append((mark, f"{words} {_when(mine, until, clock)}"))
    return found


_SHADED = {
    Kind.PAUSE: (Mark.PAUSED, "paused"),
    Kind.OUTAGE: (Mark.OUTAGE, "database away"),
    Kind.BREAKER: (Mark.HELD_BACK, "breaker open"),
}


def _when(events: list[Event], until: datetime, clock: Clock) -> str:
    seconds = sum(((each.ended_at or until) - each.began_at).total_seconds() for each in events)
    if len(events) > 1:
        return f"{len(events):,} times, {about(seconds)} in all"
    if events[0].ended_at is None:
        return f"since {clock.near(events[0].began_at, until)}"
    return f"{clock.near(events[0].began_at, until)}, {about(seconds)}"


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
    if not ended_well(event.detail.get("summary") or {}):
        mark = Mark.LOOK
    text = f"Run {event.run_id} on {event.name}: {event.why}"
    return EventLine(event.began_at, mark, text, f"until {clock.second(event.ended_at)}")
