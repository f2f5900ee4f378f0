"""Which job a worker should try to claim next: rows read without locks, at most a second old.

First its own partition, then, when that is empty, what the others have left. Older ids come first,
but a backlog that is not ours is walked through once, not at every look. Claiming is the queue's.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator

from worker.claiming.closed_keys import ClosedKeys
from worker.database.client import Database, Row
from worker.models import Candidate, Partition

MAX_AGE_SECONDS = 1.0
MIN_BATCH = 4
MAX_BATCH = 64

_LOWEST = -(2**31) - 1
_LAST_ID = 2**63 - 1
# So many priorities are looked through one by one, each with its cursor; the rest at once.
_LEVELS_ONE_BY_ONE = 8
# Searches that may find nothing use this share of the time, unless they would come too late.
_FUTILE_SHARE = 0.02

# Looking back through a backlog may be put off for so long.
_LOOK_BACK_SECONDS = 10.0

# Jobs that do not simply wait for their profile are looked for so often, seldom if there are none.
_IMPATIENT_SECONDS = 2.0
_NO_IMPATIENT_SECONDS = 10.0

# A way of looking, and a priority.
_Source = tuple[str, int]
_Found = tuple[Candidate, _Source]


class Candidates:
    """The next jobs for one worker, in order of priority and then of id."""

    def __init__(
        self,
        db: Database,
        partition: Partition,
        *,
        help_others: bool = True,
        closures: ClosedKeys | None = None,
    ) -> None:
        self._db = db
        self._closures = closures or ClosedKeys(db)
        self._partition = partition
        self._rings = ["own_candidates"]
        if help_others and partition.total > 1:
            self._rings += ["help_candidates", "any_candidates"]
        elif help_others:
            self._rings = ["any_candidates"]
        self._found: deque[_Found] = deque()
        self._read_at = 0.0
        self._batch = MIN_BATCH
        self._cursors: dict[_Source, int] = {}
        self._look_back_at: dict[_Source, float] = {}
        self._look_again_at: dict[str, float] = {}
        self._impatient: deque[Candidate] = deque()
        self._look_for_impatient_at = 0.0

    def has_next(self) -> bool:
        """Whether there was something to claim at most a second ago."""
        self._drop_closed()
        if not self._found or not self._is_fresh():
            self._refill()
        return bool(self._found)

    def next(self) -> Candidate | None:
        """Return a job that was ready at most a second ago, or None when there is none."""
        return self._take() if self.has_next() else None

    def at_hand(self) -> Candidate | None:
        """Return such a job only if that needs no look at the database, and no leave."""
        self._drop_closed()
        if not self._found or not self._is_fresh() or self._closures.is_watched(self._found[0][0]):
            return None
        return self._take()

    def has_impatient(self) -> bool:
        """Whether jobs wait for a busy profile that say themselves what becomes of them then.

        Searches leave such jobs out like all others of their profile; so they are looked for here,
        with a small share of the time.
        """
        now = time.monotonic()
        if self._impatient or now < self._look_for_impatient_at:
            return bool(self._impatient)
        self._closures.refresh()
        self._look_for_impatient_at = now + _IMPATIENT_SECONDS
        if not (busy := self._closures.busy()):
            return False
        rows = self._db.fetch_all(
            "impatient_candidates",
            profiles=busy["profile"] or ("",),
            accounts=busy["account"] or ("",),
            slot=self._partition.slot,
            total=self._partition.total,
            limit=MAX_BATCH,
        )
        self._impatient.extend(map(_candidate, rows))
        now, took = time.monotonic(), time.monotonic() - now
        rest = _IMPATIENT_SECONDS if rows else _NO_IMPATIENT_SECONDS
        self._look_for_impatient_at = now + max(_pause(took), rest)
        return bool(self._impatient)

    def next_impatient(self) -> Candidate | None:
        """Return such a job, or None when there is none now."""
        return self._impatient.popleft() if self.has_impatient() else None

    def _drop_closed(self) -> None:
        while self._found and self._closures.is_closed(self._found[0][0]):
            self._found.popleft()

    def _is_fresh(self) -> bool:
        return time.monotonic() - self._read_at <= MAX_AGE_SECONDS

    def _take(self) -> Candidate:
        candidate, source = self._found.popleft()
        self._cursors[source] = max(candidate.job_id, self._cursors.get(source, 0))
        return candidate

    def _refill(self) -> None:
        # A batch that went stale was too large for our pace, one that was used up too small.
        grow = not self._found
        self._batch = min(self._batch * 2, MAX_BATCH) if grow else max(self._batch // 2, MIN_BATCH)
        self._found.clear()
        self._closures.refresh()
        if self._closures.is_all_closed:
            return
        for ring in self._rings:
            began = time.monotonic()
            # The last way of looking skips over nothing of others, so it is never futile.
            if ring != self._rings[-1] and began < self._look_again_at.get(ring, 0.0):
                continue
            self._found.extend(self._search(ring))
            now = time.monotonic()
            if self._found:
                self._read_at = now
                return
            self._look_again_at[ring] = now + min(_pause(now - began), MAX_AGE_SECONDS)

    def _search(self, ring: str) -> list[_Found]:
        for count, priority in enumerate(self._levels()):
            if count == _LEVELS_ONE_BY_ONE:
                return self._read_beyond(priority) if ring == "own_candidates" else []
            if found := self._look(ring, priority):
                return found
        return []

    def _levels(self) -> Iterator[int]:
        above = _LOWEST
        while (row := self._db.fetch_one("next_level", above=above)) is not None:
            above = row["priority"]
            yield above

    def _look(self, ring: str, priority: int) -> list[_Found]:
        cursor = self._cursors.get((ring, priority), 0)
        if cursor == 0:
            return self._look_back(ring, priority, _LAST_ID)
        return self._look_back(ring, priority, cursor) or self._read(
            ring, priority, cursor, _LAST_ID
        )

    def _look_back(self, ring: str, priority: int, cursor: int) -> list[_Found]:
        """Find jobs from the beginning on: those that came back behind the cursor come first."""
        key = (ring, priority)
        began = time.monotonic()
        if cursor != _LAST_ID and began < self._look_back_at.get(key, 0.0):
            return []
        found = self._read(ring, priority, 0, cursor)
        now = time.monotonic()
        self._look_back_at[key] = now + min(_pause(now - began), _LOOK_BACK_SECONDS)
        return found

    def _read_beyond(self, priority: int) -> list[_Found]:
        conditions, closed = self._closures.conditions()
        rows = self._db.fetch_all(
            "own_candidates_beyond",
            conditions,
            **closed,
            priority=priority,
            slot=self._partition.slot,
            total=self._partition.total,
            limit=self._batch,
        )
        return [(_candidate(row), ("own_candidates", row["priority"])) for row in rows]

    def _read(self, ring: str, priority: int, after: int, until: int) -> list[_Found]:
        conditions, closed = self._closures.conditions()
        rows = self._db.fetch_all(
            ring,
            conditions,
            **closed,
            priority=priority,
            after=after,
            until=until,
            slot=self._partition.slot,
            total=self._partition.total,
            limit=self._batch,
        )
        return [(_candidate(row), (ring, priority)) for row in rows]


def _candidate(row: Row) -> Candidate:
    return Candidate(
        job_id=row["id"],
        version=row["version"],
        fence=row["fence"],
        attempts=row["attempts"],
        max_attempts=row["max_attempts"],
        task=row["task"],
        payload=row["payload"],
        timeout_seconds=row["timeout_seconds"],
        was_done=bool(row["was_done"]),
        has_callback=bool(row["has_callback"]),
        blocks=row["blocks"],
        crashes=row["crashes"],
        forgiven=row["forgiven"],
        site=row["site"],
        profile_id=row["profile_id"],
        account_id=row["account_id"],
    )


def _pause(took_seconds: float) -> float:
    """Say how long to leave a search alone that took so long."""
    return took_seconds / _FUTILE_SHARE
