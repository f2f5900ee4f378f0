"""What held a night up, in words: pauses, outages, breakers, restarts; and hour by hour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from worker.database.client import Database
from worker.reporting import figures
from worker.reporting.events import Event, Kind
from worker.reporting.night.model import Hour, Interruption
from worker.reporting.night.window import Window
from worker.reporting.night.words import clean, clock, span
from worker.reporting.spans import DAY, HOUR, MINUTE

MOST_OF_A_KIND = 50
# Longer nights are told by days.
BY_HOURS = timedelta(days=4)


def told_of(events: Sequence[Event]) -> list[Interruption]:
    """Put events into words, by their beginning; of each kind the latest `MOST_OF_A_KIND`."""
    found = [*_restarts(events), *(_held_up(event) for event in events if event.kind in _WORDS)]
    kept: list[Interruption] = []
    for kind in {each.kind for each in found}:
        kept += [each for each in found if each.kind == kind][-MOST_OF_A_KIND:]
    return sorted(kept, key=lambda each: each.start)


_WORDS = {Kind.PAUSE: "paused", Kind.OUTAGE: "database away", Kind.BREAKER: "breaker open"}


def _held_up(event: Event) -> Interruption:
    text = _WORDS[event.kind]
    if event.kind is Kind.BREAKER:
        text = f"breaker of {clean(event.name.removeprefix('site:'), 80)} open"
    elif event.kind is Kind.PAUSE:
        by = event.detail.get("by")
        queue = f"queue {clean(event.name, 50)} " if event.name else ""
        text = f"{queue}paused" + (f" by {clean(str(by), 60)}" if by else "")
        # One queue's pause holds up no other: the picture shades none of the lanes for it.
        kind = "pause of a queue" if event.name else event.kind.value
        return Interruption(kind, event.began_at, event.ended_at, text)
    elif event.kind is Kind.OUTAGE and event.name:
        text = f"database away, as {clean(event.name, 60)} saw it"
    return Interruption(event.kind.value, event.began_at, event.ended_at, text)


def _restarts(events: Iterable[Event]) -> list[Interruption]:
    """Tell of each worker that took a slot over why the one before it ended."""
    before: dict[tuple[int | None, int | None], Event] = {}
    found = []
    for life in events:
        if life.kind is not Kind.WORKER:
            continue
        place = (life.run_id, life.slot)
        if life.restarts and place in before:
            why = clean(before[place].why, 80) or "its end is not known"
            text = f"worker {life.slot} restarted: {why}"
            found.append(Interruption("restart", life.began_at, life.began_at, text, life.slot))
        before[place] = life
    return found


def lasted(each: Interruption, end: datetime) -> float:
    """Tell for how many seconds something went on, until a moment at the latest."""
    return max(0.0, ((each.end or end) - each.start).total_seconds())


def hours(db: Database, window: Window, interruptions: Sequence[Interruption]) -> list[Hour]:
    """List what was done and failed in every hour of the night, also in those with nothing."""
    if window.end - window.start > BY_HOURS:
        return [Hour(day.start, day.done, day.failed) for day in
                figures.series(db, window.start, window.end, DAY)]  # fmt: skip
    step = HOUR.length
    # By the local clock, whose hours may begin at another minute than UTC's.
    local = window.local(window.start)
    start = window.start - timedelta(
        minutes=local.minute, seconds=local.second, microseconds=local.microsecond
    )
    found: dict[datetime, list[int]] = {}
    for minute in figures.series(db, window.start, window.end, MINUTE):
        place = start + (minute.start - start) // step * step
        done_failed = found.setdefault(place, [0, 0])
        done_failed[0] += minute.done
        done_failed[1] += minute.failed
    listed = []
    while start < window.end:
        done, failed = found.get(start, (0, 0))
        listed.append(Hour(start, done, failed, _notes(start, start + step, window, interruptions)))
        start += step
    return listed


def _notes(
    start: datetime, end: datetime, window: Window, interruptions: Sequence[Interruption]
) -> tuple[str, ...]:
    notes = []
    for kind, words in (
        ("pause", "paused"),
        ("pause of a queue", "a queue paused"),
        ("outage", "database away"),
        ("breaker", "breaker open"),
    ):
        mine = [each for each in interruptions if each.kind == kind and start <= each.start < end]
        if len(mine) == 1:
            notes.append(f"{words} {span(lasted(mine[0], window.end))}")
        elif mine:
            notes.append(f"{words} {len(mine)} times")
    restarts = sum(1 for e in interruptions if e.kind == "restart" and start <= e.start < end)
    if restarts:
        notes.append("1 restart" if restarts == 1 else f"{restarts} restarts")
    return (*notes, *_ends(start, end, window))


def _ends(start: datetime, end: datetime, window: Window) -> Iterator[str]:
    """Tell of the runs that ended in an hour: of all that were killed, and of the last one."""
    last = max((run.over_at for run in window.runs if run.over_at is not None), default=None)
    for run in window.runs:
        if run.over_at is None or not start <= run.over_at < end:
            continue
        is_last = run.over_at == last and not window.alive
        if run.ending and (is_last or run.ending == "killed"):
            whose = "" if len(window.runs) == 1 else f"run {run.run_id} "
            yield f"{whose}{clean(run.ending, 60)} at {clock(window, run.over_at)}"
