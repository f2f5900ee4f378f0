"""Gather a night: every part once, from bounded statements. Nothing is changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from worker.database.client import Database
from worker.errors import DatabaseUnavailable
from worker.history.todo import Todo
from worker.recovery.unswept import everything
from worker.reporting import events, lanes
from worker.reporting.events import Kind
from worker.reporting.lanes import Lane
from worker.reporting.night import belongings, failures, house
from worker.reporting.night.comparison import measure, usual
from worker.reporting.night.counts import count
from worker.reporting.night.doubts import doubts
from worker.reporting.night.duties import MOST_DUTIES, duties, left_out
from worker.reporting.night.interruptions import hours, told_of
from worker.reporting.night.merged_lanes import merged
from worker.reporting.night.model import Batches, Doubt, Measures, Night, SlowTask, Usual
from worker.reporting.night.slowest import slowest
from worker.reporting.night.verdict import judge
from worker.reporting.night.window import Window

COLUMNS = 144
T = TypeVar("T")


class _Gathering:
    """Parts that may take long: what cannot be had in time is left out, and said to be."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def part(self, name: str, ask: Callable[[], T], instead: T) -> T:
        """Ask for a part; without an answer in time, take what stands for it."""
        try:
            return ask()
        except DatabaseUnavailable as error:
            self.notes.append(f"{name}: not known, because the database did not answer ({error})")
            return instead


def gather(db: Database, window: Window, errors_dir: Path) -> Night:
    """Tell all that is known of a night."""
    told = _told(db, window)
    groups, totals = failures.groups(db, window, errors_dir, told)
    counts = count(db, window, totals.jobs)
    measures = measure(db, window.start, window.end, window.runs, told)
    careful = _Gathering()
    before = careful.part("the last seven nights", lambda: usual(db, window), Usual(0, Measures()))
    listed = sum(group.jobs for group in groups)
    held_up = told_of(told)
    drawn = lanes.timeline(db, window.start, window.end, COLUMNS)
    nothing: tuple[list[SlowTask], list[Doubt]] = ([], [])
    slow = careful.part("the slowest", lambda: slowest(db, window), nothing[0])
    found = careful.part("results", lambda: doubts(db, window, counts.done), nothing[1])
    waiting = careful.part("what waits for a person", lambda: everything(db), Todo())
    to_do = duties(waiting, groups, found)
    return Night(
        window=window,
        verdict=judge(db, window, counts, measures, before, totals),
        duties=tuple(to_do[:MOST_DUTIES]),
        more_duties=left_out(to_do, groups, totals),
        counts=counts,
        measures=measures,
        usual=before,
        hours=tuple(hours(db, window, held_up)),
        interruptions=tuple(held_up),
        column_seconds=drawn.column_seconds,
        lanes=tuple(merged(_lanes_of(window, drawn.lanes))),
        groups=tuple(groups),
        group_totals=totals,
        other_failures=max(0, counts.failed - listed),
        slowest=tuple(slow),
        doubts=tuple(found),
        house=tuple(house.keep(db, window, errors_dir)),
        queues=careful.part("queues", lambda: belongings.by_queue(db, window), ()),
        batches=careful.part("batches", lambda: belongings.batches(db, window), Batches()),
        follow_ups=careful.part("follow-ups", lambda: belongings.follow_ups(db, window), 0),
        # The last of all: what could not be had in time.
        notes=tuple(careful.notes),
    )


def _told(db: Database, window: Window) -> list[events.Event]:
    """List what happened; without the workers of other runs, when the report is about one."""
    kinds = (Kind.WORKER, Kind.PAUSE, Kind.OUTAGE, Kind.BREAKER)
    told = events.between(db, window.start, window.end, kinds)
    if window.run is None:
        return told
    mine = window.run.run_id
    return [each for each in told if each.kind is not Kind.WORKER or each.run_id == mine]


def _lanes_of(window: Window, found: list[Lane]) -> list[Lane]:
    if window.run is None:
        return found
    return [lane for lane in found if lane.run_id == window.run.run_id]
