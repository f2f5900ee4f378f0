"""Add the jobs of schedules whose time has come: exactly once, whoever sees it first.

The time of a schedule is moved on, guarded by what it was, in the transaction that adds its jobs.
So of many runs and hosts one does it, and one that is killed in between has done nothing.
"""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from worker.database.client import Database, Row, Transaction
from worker.errors import UsageError
from worker.queue import batches
from worker.scheduling import cron, schedules

# Seen this late, a time has not been missed.
ON_TIME = timedelta(minutes=5)
# However long nobody has looked: no more times are gone through in one transaction.
MAX_TIMES = 1_000
# And for no longer at once, since the heart has leases to renew; what is left stays due.
PASS_SECONDS = 0.5

logger = logging.getLogger("nightshift.schedule")


@dataclass(frozen=True, slots=True)
class Fired:
    """What one schedule came to: how many jobs it added, and which times it left out."""

    name: str
    jobs: int
    missed: int = 0


def fire_due(
    db: Database, complaints: set[str] | None = None, seconds: float = PASS_SECONDS
) -> list[Fired]:
    """Add the jobs of all schedules that are due; return what this call has done.

    After `seconds` it begins with no further piece of a long absence: that is left to the next
    call. One that cannot be read here is left to others, and logged, once if `complaints` is kept.
    """
    told = set() if complaints is None else complaints
    until = time.monotonic() + seconds
    fired = []
    for row in db.fetch_all("due_schedules"):
        try:
            item = _fire(db, row, until)
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


def _fire(db: Database, row: Row, until: float = -math.inf) -> Fired | None:
    """Go through the times that have come, a piece at a time; what is left at the end is due on."""
    fired = None
    while (step := _step(db, row)) is not None:
        item, following = step
        before = fired or Fired(item.name, 0)
        fired = Fired(item.name, before.jobs + item.jobs, before.missed + item.missed)
        if following > row["now"] or time.monotonic() >= until:
            break
        row = {**row, "next_at": following}
    return fired


def _step(db: Database, row: Row) -> tuple[Fired, datetime] | None:
    """Do what the next times ask for, and say which one follows; None: somebody else has."""
    times, following = _due_times(row)
    wanted = _wanted(row, times, is_last=following > row["now"])
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
    return None if jobs is None else (Fired(row["name"], jobs, missed), following)


def _due_times(row: Row) -> tuple[list[datetime], datetime]:
    """List the times that have come, in order, a thousand at most, and the one that follows."""
    found: list[datetime] = [row["next_at"]]
    for moment in cron.times_after(row["cron"], row["timezone"], row["next_at"]):
        if moment > row["now"] or len(found) == MAX_TIMES:
            return found, moment
        found.append(moment)
    raise UsageError(f"{row['cron']!r} in {row['timezone']} never comes again")


def _wanted(row: Row, times: list[datetime], *, is_last: bool) -> list[datetime]:
    """Choose by the schedule's rule for which of these times jobs are added."""
    if row["if_missed"] == "all":
        return times
    if not is_last:
        # Later ones have come too, and of all of them one counts.
        return []
    if row["if_missed"] == "skip":
        return [moment for moment in times[-1:] if row["now"] - moment <= ON_TIME]
    return times[-1:]


def _add_jobs(tx: Transaction, row: Row, moment: datetime) -> int:
    batch = f"{row['name']} {moment:%Y-%m-%d %H:%M:%S}" if row["is_batched"] else None
    if batch is not None:
        batches.add(tx, batch, f"schedule {row['name']}")
    return tx.execute("add_scheduled_jobs", name=row["name"], batch=batch)
