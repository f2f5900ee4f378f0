"""The outbox: webhook events that are not delivered yet, and when each is tried next.

An event is leased for a minute under a guard, so that several processes may deliver at once and
one that is killed loses nothing. Events of one job are taken in the order they happened.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime

from worker.backoff import backoff_seconds
from worker.database.client import Database, Row
from worker.json_text import parse_stored
from worker.models import JSON

# A delivery takes eleven seconds at most. A process that holds an event longer is gone.
LEASE_SECONDS = 60.0
FIRST_DELAY_SECONDS = 5.0
MAX_DELAY_SECONDS = 3600.0
# Hourly tries reach the age of three days first; this ends an event that is tried more often.
MAX_DELIVERIES = 100
MAX_AGE_SECONDS = 3 * 86400.0
KEPT_SECONDS = 7 * 86400.0
AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Event:
    """An outcome to report; `deliveries` counts the tries and guards every write to its row."""

    id: int
    event_id: str
    event: str
    job_id: int
    attempt: int
    task: str
    dedupe_key: str | None
    result: JSON
    reason: str | None
    happened_at: datetime
    url: str = field(repr=False)
    # What the attempt that ended the job really used, by name.
    used_profile: str | None = None
    used_account: str | None = None
    used_proxy: str | None = None
    deliveries: int = 0
    age_seconds: float = 0.0
    now_seconds: int = 0

    @property
    def place(self) -> str:
        """The receiver: the URL up to its path, as in the queries. It may hold a password."""
        return place_of(self.url)


def place_of(url: str) -> str:
    """Cut a URL after its host, as SUBSTRING_INDEX does."""
    return "/".join(url.split("/")[:3])


def has_due(db: Database) -> bool:
    """Tell whether any event should be sent now."""
    row = db.fetch_one("has_due_events")
    return row is not None and bool(row["has_due"])


def due(db: Database, *, limit: int, left_out: Collection[str] = ()) -> list[Event]:
    """List events to send now: at most one for each job, and none to the receivers left out."""
    # An empty list is not valid SQL, and no receiver has an empty name.
    places = tuple(left_out) or ("",)
    return [_event(row) for row in db.fetch_all("due_events", limit=limit, left_out=places)]


def take(db: Database, event: Event) -> Event | None:
    """Lease an event for a minute; return None if another process was faster."""
    taken = db.execute(
        "take_event", id=event.id, deliveries=event.deliveries, lease_seconds=LEASE_SECONDS
    )
    if taken != 1:
        return None
    values = {name: getattr(event, name) for name in Event.__slots__}
    return Event(**{**values, "deliveries": event.deliveries + 1})


def mark_delivered(db: Database, event: Event) -> None:
    """Record that an event has arrived."""
    db.execute("mark_delivered", id=event.id)


def mark_failed(
    db: Database,
    event: Event,
    problem: str,
    *,
    is_final: bool = False,
    retry_after: float | None = None,
) -> float | None:
    """Record that an event did not arrive; return the seconds until the next try.

    None means that the event is given up: at once if the failure is final, else after three days.
    """
    delay: float | None = max(
        backoff_seconds(event.deliveries, FIRST_DELAY_SECONDS, MAX_DELAY_SECONDS),
        retry_after or 0.0,
    )
    if is_final or event.deliveries >= MAX_DELIVERIES or event.age_seconds > MAX_AGE_SECONDS:
        delay = None
    db.execute(
        "mark_failed",
        id=event.id,
        deliveries=event.deliveries,
        problem=problem[:500],
        delay_seconds=delay,
    )
    return delay


def give_up_old(db: Database, place: str, problem: str) -> int:
    """Give up events that waited three days for a silent receiver; return how many."""
    return db.execute(
        "give_up_old_events",
        place=place,
        problem=problem[:500],
        max_seconds=MAX_AGE_SECONDS,
        limit=AT_ONCE,
    )


def revive(db: Database) -> int:
    """Make all given-up events due again; return how many."""
    return db.execute("revive_given_up")


def forget(db: Database) -> bool:
    """Remove some events that arrived over a week ago; tell whether more are left."""
    removed = db.execute("forget_delivered", kept_seconds=KEPT_SECONDS, limit=AT_ONCE)
    return removed == AT_ONCE


def delivered_between(db: Database, start: datetime, end: datetime) -> int:
    """Count the events that arrived between two moments, of those that are not forgotten yet."""
    return int(db.fetch_all("count_delivered", start=start, end=end)[0]["events"])


def counts(db: Database) -> dict[str, int]:
    """Count the events that wait and those given up."""
    return {name: int(value) for name, value in db.fetch_all("count_events")[0].items()}


def undelivered(db: Database, *, limit: int) -> list[Row]:
    """List the events that wait, the next one first, then those that were given up."""
    return db.fetch_all("undelivered_events", limit=limit)


def _event(row: Row) -> Event:
    values = dict(row)
    values["result"] = None if row["result"] is None else parse_stored(row["result"])
    values["happened_at"] = row["happened_at"].replace(tzinfo=UTC)
    return Event(**values)
