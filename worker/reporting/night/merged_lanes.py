"""One lane for each worker's place: a cron job's forty runs a night are not two hundred lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from worker.reporting.lanes import Column, Lane


def merged(lanes: Sequence[Lane]) -> list[Lane]:
    """Put the lanes of one slot of one host together, over all runs, by host and slot."""
    found: dict[tuple[str, int], list[Lane]] = {}
    for lane in lanes:
        found.setdefault((lane.host, lane.slot), []).append(lane)
    return [_one(found[place]) for place in sorted(found)]


def _one(lanes: list[Lane]) -> Lane:
    columns: dict[object, Column] = {}
    for lane in lanes:
        for column in lane.columns:
            known = columns.get(column.start)
            columns[column.start] = column if known is None else _added(known, column)
    ordered = sorted(columns.values(), key=lambda column: column.start)
    lives = sorted((life for lane in lanes for life in lane.lives), key=lambda life: life.began_at)
    return Lane(lanes[-1].run_id, lanes[-1].slot, lanes[-1].host, ordered, lives)


def _added(one: Column, other: Column) -> Column:
    return replace(
        one,
        done=one.done + other.done,
        failed=one.failed + other.failed,
        again=one.again + other.again,
        handed_back=one.handed_back + other.handed_back,
        busy_seconds=one.busy_seconds + other.busy_seconds,
    )
