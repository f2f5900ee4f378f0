"""The ready jobs, priority by priority and stretch by stretch of their ids, read without locks.

A stretch is short enough to be read in a moment, however few of its jobs are wanted. So no
statement runs into a timeout, and a look at a million held-back jobs can be broken off.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from operator import attrgetter
from typing import Any, Protocol

from worker.database.client import Database, Row
from worker.models import Candidate, Partition
from worker.queue_names import as_compared
from worker.urls import host_or_none

FIRST_ID = -(2**63) + 1
# How many priorities are looked through one by one; the rest are looked through at once.
LEVELS_ONE_BY_ONE = 8

_BY_PRIORITY = attrgetter("priority", "job_id")
_LOWEST = -(2**31) - 1
_MIN_IDS = 1_000
_QUICK_SECONDS = 0.02
_SLOW_SECONDS = 0.1


class Filter(Protocol):
    """What a search leaves out."""

    def conditions(self) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Name the conditions for a query, with their parameters."""

    def meets_strangers(self, found: Iterable[Candidate]) -> bool:
        """Whether to search once more, by other conditions, after these were found."""


class Ring(Enum):
    """Whose jobs to look at; the value names the condition that leaves the others out."""

    OWN = "own_ids"
    HELPED = "helped_ids"
    # Not an empty tuple: Python 3.11.2 makes another value of that.
    ANY = None

    @property
    def conditions(self) -> tuple[str, ...]:
        """The names of the conditions, for a query."""
        return () if self.value is None else (self.value,)


@dataclass(frozen=True, slots=True)
class Level:
    """A priority that has jobs ready, and the ids of the first and the last of them."""

    priority: int
    first: int
    last: int


class ReadyJobs:
    """Where one worker looks for jobs."""

    def __init__(self, db: Database, partition: Partition) -> None:
        self._db = db
        self._partition = partition
        self._ids = 20_000

    def next_level(self, above: Level | None) -> Level | None:
        """Find the most urgent priority with a job ready, or the next one after another."""
        row = self._db.fetch_one("next_level", above=_LOWEST if above is None else above.priority)
        return None if row is None else Level(row["priority"], row["first"], row["last"])

    def end_of_stretch(self, after: int, last: int) -> int:
        """Say how far to read in one statement, from an id on and up to another at most."""
        return min(after + self._ids, last)

    def stretches(self) -> Iterator[tuple[int, int, int]]:
        """Go through all ready jobs: each stretch by priority, the id before it and its last."""
        level = self.next_level(None)
        while level is not None:
            after = level.first - 1
            while after < level.last:
                until = self.end_of_stretch(after, level.last)
                yield level.priority, after, until
                after = until
            level = self.next_level(level)

    def read(
        self, ring: Ring, level: Level, after: int, until: int, closures: Filter, limit: int
    ) -> list[Candidate]:
        """List the first jobs of a stretch that are not held back."""
        began = time.monotonic()
        where = {"priority": level.priority, "after": after, "until": until, "limit": limit}
        found = self._fetch("ready_stretch", ring, closures, where)
        if not found:
            self._learn(time.monotonic() - began)
        return found

    def read_beyond(
        self, ring: Ring, level: Level, closures: Filter, limit: int
    ) -> list[Candidate]:
        """List the first jobs from a priority on that are not held back."""
        where = {"priority": level.priority, "limit": limit}
        return self._fetch("ready_beyond", ring, closures, where)

    def first(self, ring: Ring, closures: Filter) -> Iterator[Candidate | None]:
        """Look for a job that these keys do not hold back; yield None for each stretch in vain."""
        level = self.next_level(None)
        count = 0
        while level is not None:
            if count == LEVELS_ONE_BY_ONE:
                yield from self.read_beyond(ring, level, closures, 1)
                return
            after = level.first - 1
            while after < level.last:
                until = self.end_of_stretch(after, level.last)
                yield next(iter(self.read(ring, level, after, until, closures, 1)), None)
                after = until
            level = self.next_level(level)
            count += 1

    def _fetch(
        self, name: str, ring: Ring, closures: Filter, where: dict[str, int]
    ) -> list[Candidate]:
        """Run one of the two queries; once more, if jobs are among them that are not this run's."""
        conditions, closed = closures.conditions()
        slot, total = self._partition.slot, self._partition.total
        rows = self._db.fetch_all(
            name, (*ring.conditions, *conditions), **closed, **where, slot=slot, total=total
        )
        found = sorted(map(candidate_of, rows), key=_BY_PRIORITY)
        if closures.meets_strangers(found):
            return self._fetch(name, ring, closures, where)
        return found

    def _learn(self, seconds: float) -> None:
        if seconds < _QUICK_SECONDS:
            self._ids *= 2
        elif seconds > _SLOW_SECONDS:
            self._ids = max(self._ids // 2, _MIN_IDS)


def candidate_of(row: Row) -> Candidate:
    """Make a candidate of a row of `candidate_columns`."""
    (
        fence, attempts, priority, depth, blocks, crashes, forgiven, has_callback, was_done,
        max_attempts, timeout_seconds,
    ) = map(int, row["numbers"].split())  # fmt: skip
    return Candidate(
        job_id=row["id"],
        version=row["version"],
        fence=fence,
        attempts=attempts,
        max_attempts=max_attempts or None,
        task=as_compared(row["task"]),
        payload=row["payload"],
        timeout_seconds=timeout_seconds or None,
        was_done=bool(was_done),
        has_callback=bool(has_callback),
        blocks=blocks,
        crashes=crashes,
        forgiven=forgiven,
        site=host_or_none(row["site"]),
        profile_id=row["profile_id"],
        account_id=row["account_id"],
        priority=priority,
        order_place=row["order_place"],
        queue=as_compared(row["queue"]),
        depth=depth,
    )
