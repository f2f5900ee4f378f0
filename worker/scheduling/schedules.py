"""The schedules in the database: add, list, pause, resume, remove."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from worker.database.client import Database, Row, Transaction
from worker.errors import DuplicateKey, UsageError
from worker.models import DEFAULT_QUEUE
from worker.scheduling import cron

# What becomes of times that nobody saw: one for all of them, none, or each of them.
IF_MISSED = ("once", "skip", "all")
MAX_NAME = 64
MAX_JOBS = 100_000

# A job's profile, account and order key.
Route = tuple[str | None, str | None, str | None]
NO_ROUTE: Route = (None, None, None)


@dataclass(frozen=True, slots=True)
class NewSchedule:
    """A rule to be kept: when, and what it adds."""

    name: str
    cron: str
    timezone: str
    task: str
    payloads: tuple[str, ...] = ("{}",)
    queue: str = DEFAULT_QUEUE
    priority: int = 0
    if_missed: str = "once"
    is_batched: bool = False
    # Profile, account and order key of each payload, if any has one.
    routes: tuple[Route, ...] = ()


def add(db: Database, new: NewSchedule, by: str, *, replace: bool = False) -> Row:
    """Keep a schedule with the jobs that it adds; raises UsageError if its name is taken."""
    check(new)

    def write(tx: Transaction) -> None:
        if replace:
            _remove(tx, new.name)
        (now,) = tx.fetch_all("database_time")
        following = next(cron.times_after(new.cron, new.timezone, now["now"]))
        tx.execute(
            "add_schedule",
            name=new.name,
            cron=new.cron,
            timezone=new.timezone,
            if_missed=new.if_missed,
            task=new.task,
            queue=new.queue,
            priority=new.priority,
            is_batched=new.is_batched,
            next_at=following,
            by=by[:255],
        )
        tx.insert_many("add_schedule_jobs", _rows(new))

    try:
        db.transaction(write)
    except DuplicateKey:
        raise UsageError(
            f"there is a schedule named {new.name} already; add --replace, or take another name"
        ) from None
    return find(db, new.name)


def check(new: NewSchedule) -> None:
    """Raise UsageError for a schedule that cannot be meant."""
    if not new.name.strip() or len(new.name) > MAX_NAME:
        raise UsageError(f"a schedule's name has 1 to {MAX_NAME} characters")
    if not new.payloads:
        raise UsageError("a schedule adds at least one job")
    if len(new.payloads) > MAX_JOBS:
        raise UsageError(f"a schedule adds at most {MAX_JOBS:,} jobs; enqueue more in another way")
    cron.check(new.cron, new.timezone)


def everything(db: Database) -> list[Row]:
    """List all schedules by name, with how many jobs each adds."""
    return db.fetch_all("all_schedules")


def find(db: Database, name: str) -> Row:
    """Read one schedule; raises UsageError when there is none of that name."""
    row = db.fetch_one("schedule_named", name=name)
    if row is None:
        names = ", ".join(each["name"] for each in everything(db)) or "none"
        raise UsageError(f"there is no schedule named {name}; there are: {names}")
    return row


def pause(db: Database, name: str) -> None:
    """Let a schedule rest until `resume`."""
    find(db, name)
    db.execute("pause_schedule", name=name)


def resume(db: Database, name: str) -> Row:
    """Let a schedule go on with its next time; those of the pause are not made up for."""

    def write(tx: Transaction) -> None:
        rows = tx.fetch_all("lock_schedule", name=name)
        if rows and rows[0]["is_paused"]:
            row = rows[0]
            following = next(cron.times_after(row["cron"], row["timezone"], row["now"]))
            tx.execute("resume_schedule", name=name, next_at=following)

    db.transaction(write)
    return find(db, name)


def remove(db: Database, name: str) -> None:
    """Forget a schedule; the jobs that it has added stay."""
    find(db, name)
    db.transaction(lambda tx: _remove(tx, name))


def parts_of(
    jobs: Iterable[tuple[str | None, ...]],
) -> tuple[tuple[str, ...], tuple[Route, ...]]:
    """Take payloads and routes out of jobs as they go into the queue."""
    made = list(jobs)
    routes = tuple((job[2], job[3], job[4]) if len(job) > 2 else NO_ROUTE for job in made)
    return tuple(job[0] or "{}" for job in made), routes


def _rows(new: NewSchedule) -> list[Row]:
    routes = new.routes or (NO_ROUTE,) * len(new.payloads)
    return [
        {
            "schedule": new.name,
            "payload": payload,
            "profile_id": route[0],
            "account_id": route[1],
            "order_key": route[2],
        }
        for payload, route in zip(new.payloads, routes, strict=True)
    ]


def _remove(tx: Transaction, name: str) -> None:
    tx.execute("remove_schedule_jobs", name=name)
    tx.execute("remove_schedule", name=name)
