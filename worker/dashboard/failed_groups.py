"""The jobs in error by group: how many failed when, with a few of them to look at.

Read beside the requests, as all of the facts are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from worker.database.client import Database, Row
from worker.history import dead_letters

# Groups that have pictures and a trend; the others are listed without.
PICTURED = 20
BUCKETS = 48
# In how many of these nights a group has failed.
NIGHTS = 7
WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Group:
    """Jobs in error with the same fingerprint; `samples` are the first, a middle and the last."""

    row: Row
    samples: tuple[Row, ...] = ()
    trend: tuple[int, ...] = ()
    trend_start: datetime | None = None
    # In how many of the last seven nights those that are in error failed; 0: not known.
    nights: int = 0
    # How many of them failed this night, and within seven days.
    tonight: int = 0
    this_week: int = 0
    # How many of them are told of, where only some are meant.
    told: int | None = None

    @property
    def key(self) -> str:
        """Its fingerprint; empty for failures that have none."""
        return self.row["fingerprint"] or ""

    @property
    def jobs(self) -> int:
        """How many jobs are in error so."""
        return int(self.row["jobs"])

    @property
    def told_jobs(self) -> int:
        """How many jobs a page tells of: all, unless it is about some."""
        return self.jobs if self.told is None else self.told

    @property
    def site(self) -> str:
        """The site of its first job, as far as is known."""
        return next((str(row["site"]) for row in self.samples if row.get("site")), "")

    @property
    def is_muted(self) -> bool:
        """Whether it is left out of the lists."""
        return self.row["muted_at"] is not None

    @property
    def half_done(self) -> int:
        """How many of them may be half done."""
        return int(self.row.get("half_done") or 0)

    @property
    def is_new(self) -> bool:
        """Whether it was not seen before this night, as the report says it."""
        return bool(self.row["is_new"])


def in_error(db: Database, now: datetime, new_since: datetime) -> list[Group]:
    """List the groups of jobs in error, the largest first, and how many failed lately."""
    rows = dead_letters.groups(db, new_since)
    shown = [row for row in rows if row["muted_at"] is None][:PICTURED]
    tonight = _failed(db, failed_since(new_since, now))
    week = _failed(db, now - WEEK)
    counted = [
        Group(
            row,
            tonight=tonight.get(row["fingerprint"], 0),
            this_week=week.get(row["fingerprint"], 0),
        )
        for row in rows
    ]
    if not shown:
        return counted
    start = max(min(row["first_seen"] for row in shown), now - timedelta(hours=24))
    width = max((now - start) / BUCKETS, timedelta(minutes=1))
    trends = _trends(db, start, width, int((now - start) / width) + 1)
    by_night = _trends(db, new_since - timedelta(days=NIGHTS - 1), timedelta(days=1), NIGHTS)
    pictured = {row["fingerprint"] for row in shown}
    return [
        replace(
            group,
            samples=_samples(db, group.row),
            trend=trends.get(group.row["fingerprint"], ()),
            trend_start=start,
            nights=sum(jobs > 0 for jobs in by_night.get(group.row["fingerprint"], ())),
        )
        if group.row["fingerprint"] in pictured
        else group
        for group in counted
    ]


def failed_since(new_since: datetime, now: datetime) -> datetime:
    """Tell since when failures are this night's, also when it has only just begun."""
    return min(new_since, now - timedelta(hours=1))


def _failed(db: Database, since: datetime) -> dict[str | None, int]:
    """Count the jobs in error by group that failed since a moment."""
    return {key: sum(jobs) for key, jobs in _trends(db, since, WEEK, 1).items()}


def _trends(
    db: Database, start: datetime, width: timedelta, number: int
) -> dict[str | None, tuple[int, ...]]:
    found: dict[str | None, list[int]] = {}
    seconds = width.total_seconds()
    for row in db.fetch_all("failure_trends", since=start, seconds=seconds):
        places = found.setdefault(row["fingerprint"], [0] * number)
        places[min(int(row["place"]), number - 1)] += int(row["jobs"])
    return {key: tuple(places) for key, places in found.items()}


def _samples(db: Database, row: Row) -> tuple[Row, ...]:
    """Find the first, a middle and the last job of a group, with where their evidence is."""
    if row["fingerprint"] is None:
        return ()
    found = db.fetch_all(
        "samples_of_group", fingerprint=row["fingerprint"], middle=max(0, int(row["jobs"]) // 2)
    )
    return tuple({sample["id"]: sample for sample in found}.values())
