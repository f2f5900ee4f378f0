"""Jobs of a busy profile that say themselves what becomes of them: they do not simply wait.

Other searches leave them out like all jobs of that profile, so they are looked for here, with a
small share of the time.
"""

from __future__ import annotations

import time
from collections import deque

from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.ready_jobs import candidate_of
from worker.claiming.search_allowance import rest_seconds
from worker.database.client import Database
from worker.models import Candidate, Partition

AT_ONCE = 64
# How often they are looked for, and how often when there were none.
LOOK_SECONDS = 2.0
NONE_SECONDS = 10.0


class ImpatientJobs:
    """The next such jobs for one worker."""

    def __init__(self, db: Database, partition: Partition, closures: ClosedKeys) -> None:
        self._db = db
        self._partition = partition
        self._closures = closures
        self._found: deque[Candidate] = deque()
        self._look_at = 0.0

    def has_next(self) -> bool:
        """Whether there was such a job when they were last looked for."""
        now = time.monotonic()
        if self._found or now < self._look_at:
            return bool(self._found)
        self._closures.refresh()
        self._look_at = now + LOOK_SECONDS
        if not (busy := self._closures.busy()):
            return False
        rows = self._db.fetch_all(
            "impatient_candidates",
            profiles=busy["profile"] or ("",),
            accounts=busy["account"] or ("",),
            slot=self._partition.slot,
            total=self._partition.total,
            limit=AT_ONCE,
        )
        mine = filter(self._closures.scope.takes, map(candidate_of, rows))
        self._found.extend(mine)
        now, took = time.monotonic(), time.monotonic() - now
        self._look_at = now + max(rest_seconds(took), LOOK_SECONDS if rows else NONE_SECONDS)
        return bool(self._found)

    def next(self) -> Candidate | None:
        """Return such a job, or None when there is none now."""
        return self._found.popleft() if self.has_next() else None
