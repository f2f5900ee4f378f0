"""Which job a worker should try to claim next: ids read without locks, at most a second old.

First its own partition, then, when that is empty, what the others have left. Older ids come first,
but a backlog that is not ours is walked through once, not at every look. Claiming is the queue's.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator

from worker.database import Database
from worker.models import Partition

MAX_AGE_SECONDS = 1.0
MIN_BATCH = 4
MAX_BATCH = 64

_LOWEST = -(2**31) - 1
_LAST_ID = 2**63 - 1
# Looking behind the cursor may use this share of the time at most, however long the backlog.
_LOOK_BACK_SHARE = 0.05


class Candidates:
    """The next ids for one worker, in order of priority and then of id."""

    def __init__(self, db: Database, partition: Partition, *, help_others: bool = True) -> None:
        self._db = db
        self._partition = partition
        self._rings = ["own_candidates"]
        if help_others and partition.total > 1:
            self._rings += ["help_candidates", "any_candidates"]
        elif help_others:
            self._rings = ["any_candidates"]
        self._ids: deque[int] = deque()
        self._source: tuple[str, int] = ("", 0)
        self._read_at = 0.0
        self._batch = MIN_BATCH
        self._cursors: dict[tuple[str, int], int] = {}
        self._look_back_at: dict[tuple[str, int], float] = {}

    def has_next(self) -> bool:
        """Whether there was something to claim at most a second ago."""
        if not self._ids or time.monotonic() - self._read_at > MAX_AGE_SECONDS:
            self._refill()
        return bool(self._ids)

    def next(self) -> int | None:
        """Return an id that was ready at most a second ago, or None when there is none."""
        if not self.has_next():
            return None
        job_id = self._ids.popleft()
        self._cursors[self._source] = max(job_id, self._cursors.get(self._source, 0))
        return job_id

    def _refill(self) -> None:
        # A batch that went stale was too large for our pace, one that was used up too small.
        grow = not self._ids
        self._batch = min(self._batch * 2, MAX_BATCH) if grow else max(self._batch // 2, MIN_BATCH)
        self._ids.clear()
        for ring in self._rings:
            has_levels = False
            for priority in self._levels():
                has_levels = True
                ids = self._look(ring, priority)
                if ids:
                    self._ids.extend(ids)
                    self._source = (ring, priority)
                    self._read_at = time.monotonic()
                    return
            if not has_levels:
                return

    def _levels(self) -> Iterator[int]:
        above = _LOWEST
        while (row := self._db.fetch_one("next_level", above=above)) is not None:
            above = row["priority"]
            yield above

    def _look(self, ring: str, priority: int) -> list[int]:
        cursor = self._cursors.get((ring, priority), 0)
        return self._look_back(ring, priority, cursor) or self._read(
            ring, priority, cursor, _LAST_ID
        )

    def _look_back(self, ring: str, priority: int, cursor: int) -> list[int]:
        """Find jobs that came back behind the cursor: retries, swept and handed-back ones."""
        key = (ring, priority)
        began = time.monotonic()
        if cursor == 0 or began < self._look_back_at.get(key, 0.0):
            return []
        ids = self._read(ring, priority, 0, cursor)
        now = time.monotonic()
        self._look_back_at[key] = now + min((now - began) / _LOOK_BACK_SHARE, MAX_AGE_SECONDS)
        return ids

    def _read(self, ring: str, priority: int, after: int, until: int) -> list[int]:
        rows = self._db.fetch_all(
            ring,
            priority=priority,
            after=after,
            until=until,
            slot=self._partition.slot,
            total=self._partition.total,
            limit=self._batch,
        )
        return [row["id"] for row in rows]
