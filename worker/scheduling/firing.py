"""Add the jobs of schedules whose time has come: exactly once, whoever sees it first.

The time of a schedule is moved on, guarded by what it was, in the transaction that adds its jobs.
So of many runs and hosts one does it, and one that is killed in between has done nothing.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from worker.database.client import Database, Row, Transaction
from worker.errors import UsageError
from worker.queue import batches
from worker.scheduling import cron, schedules

# Seen this late, a time has not been missed.
ON_TIME = timedelta(minutes=5)
# However long nobody has looked: of each schedule no more times are gone through at once.
MAX_TIMES = 1_000

logger = logging.getLogger("nightshift.schedule")


@dataclass(frozen=True, slots=True)
class Fired:
    """What one schedule came to: how many jobs it added, and which times it left out."""

    name: str
    jobs: int
    missed: int = 0


def fire_due(db: Database, complaints: set[str] | None = None) -> list[Fired]:
    """Add the jobs of all schedules that are due; return what this call has done.

    One that cannot be read here is left to others, and logged, once if `complaints` is kept.
    """
    told = set() if complaints is None else complaints
    fired = []
    for row in db.fetch_all("due_schedules"):
        try:
            item = _fire(db, row)
        except UsageError as error:
            if row["name"] not in told:
                logger.error("schedule %s is left alone: %s", row["name"], error)
            told.add(row["name"])
            continue
        if item is not None:
            fired.append(item)
            left_out = f"; {item.missed} missed times are left out" if item.missed else ""
            logger.info("schedule %s: %d jobs added%s", item.name, item.jobs, left_out)
    return fired


def run_now(db: Database, name: str) -> Fired:
    """Add the jobs of a schedule now; its next time stays as it is."""
    row = schedules.find(db, name)

    def write(tx: Transaction) -> int:
        tx.execute("note_extra_firing", name=name)
        (now,) = tx.fetch_all("database_time")
        return _add_jobs(tx, row, now["now"])

    return Fired(name, db.transaction(write))


def _fire(db: Database, row: Row) -> Fired | None:
    times, following = _due_times(row)
    wanted = _wanted(row, times)
    missed = len(times) - len(wanted)

    def write(tx: Transaction) -> int | None:
        moved = tx.execute(
            "move_schedule_on",
            name=row["name"],
            next_at=row["next_at"],
            following=following,
            fired=len(wanted),
            missed=missed,
        )
        if moved != 1:
            tx.discard()
            return None
        return sum(_add_jobs(tx, row, moment) for moment in wanted)

    jobs = db.transaction(write)
    return None if jobs is None else Fired(row["name"], jobs, missed)


def _due_times(row: Row) -> tuple[list[datetime], datetime]:
    """List the times that have come, in order, and the first that has not."""
    found: list[datetime] = [row["next_at"]]
    for moment in cron.times_after(row["cron"], row["timezone"], row["next_at"]):
        if moment > row["now"]:
            return found, moment
        if len(found) == MAX_TIMES:
            break
        found.append(moment)
    return found, next(cron.times_after(row["cron"], row["timezone"], row["now"]))


def _wanted(row: Row, times: list[datetime]) -> list[datetime]:
    """Choose by the schedule's rule for which of these times jobs are added."""
    match row["if_missed"]:
        case "all":
            return times
        case "skip":
            return [moment for moment in times[-1:] if row["now"] - moment <= ON_TIME]
    return times[-1:]


def _add_jobs(tx: Transaction, row: Row, moment: datetime) -> int:
    batch = f"{row['name']} {moment:%Y-%m-%d %H:%M:%S}" if row["is_batched"] else None
    if batch is not None:
        batches.add(tx, batch, f"schedule {row['name']}")
    return tx.execute("add_scheduled_jobs", name=row["name"], batch=batch)
