"""A night held against the seven before it, at the same hours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from statistics import median

from worker.database.client import Database
from worker.recovery.live_runs import Life, RunState
from worker.reporting import events, figures
from worker.reporting.events import Event, Kind
from worker.reporting.night.model import Measures, Usual
from worker.reporting.night.window import Window

NIGHTS = 7
DAY = timedelta(days=1)


def measure(
    db: Database, start: datetime, end: datetime, runs: Sequence[RunState], told: Iterable[Event]
) -> Measures:
    """Tell what a night came to."""
    whole = figures.totals(db, start, end)
    outages = [event for event in told if event.kind is Kind.OUTAGE]
    over = [run.over_at for run in runs if run.over_at is not None]
    ready = None
    last = max(runs, key=lambda run: run.over_at or run.heartbeat_at, default=None)
    # A run that was killed was not ready.
    if over and len(over) == len(runs) and last is not None and last.life is not Life.GONE:
        ready = max(0.0, (min(max(over), end) - start).total_seconds())
    worked = _worked_seconds(runs, start, end)
    return Measures(
        done=whole.done,
        failed=whole.failed,
        recovered=whole.recovered,
        again=whole.again,
        per_minute=round(60 * whole.done / worked, 1) if worked >= 1 else None,
        p50=whole.durations.percentile(0.5),
        p95=whole.durations.percentile(0.95),
        restarts=sum(1 for event in told if event.kind is Kind.WORKER and event.restarts),
        outages=len(outages),
        outage_seconds=round(sum(_seconds(event, end) for event in outages), 1),
        ready_after=ready,
        left=_left(runs),
    )


def usual(db: Database, window: Window) -> Usual:
    """Work out the median of the last seven nights in which something ended."""
    # What spans more than a day has no nights before it that it does not hold itself.
    length = min(window.end - window.start, DAY)
    nights = []
    for back in range(1, NIGHTS + 1):
        start = window.start - back * DAY
        end = start + length
        if not figures.totals(db, start, end).attempts():
            continue
        told = events.between(db, start, end, (Kind.WORKER, Kind.OUTAGE))
        nights.append(measure(db, start, end, events.runs_between(db, start, end), told))
    return Usual(len(nights), _median(nights))


def _median(nights: Sequence[Measures]) -> Measures:
    values: dict[str, float | None] = {}
    for each in fields(Measures):
        known = [value for night in nights if (value := getattr(night, each.name)) is not None]
        values[each.name] = median(known) if known else None
    if not nights:
        return Measures()
    return Measures(**values)  # type: ignore[arg-type]


def _left(runs: Sequence[RunState]) -> float | None:
    """Tell how many jobs were left when the last run ended; None where nobody wrote it down."""
    told = [
        (run.over_at, left)
        for run in runs
        if run.over_at is not None and (left := (run.summary or {}).get("left"))
    ]
    if not told:
        return None
    left = max(told, key=lambda each: each[0])[1]
    return int(left.get("pending") or 0) + int(left.get("in_progress") or 0)


def _seconds(event: Event, end: datetime) -> float:
    return ((event.ended_at or end) - event.began_at).total_seconds()


def _worked_seconds(runs: Sequence[RunState], start: datetime, end: datetime) -> float:
    """Tell for how long any run was at work, counting what several did at once a single time."""
    spans = sorted((max(run.started_at, start), min(run.over_at or end, end)) for run in runs)
    total, reached = 0.0, start
    for begin, finish in spans:
        if finish > max(begin, reached):
            total += (finish - max(begin, reached)).total_seconds()
            reached = finish
    return total
