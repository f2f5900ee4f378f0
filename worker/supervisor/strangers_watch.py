"""Finds ready jobs that are not the run's own, also while all workers are busy and none looks.

No index tells such jobs apart: they are looked for stretch by stretch, a moment at a time, and each
look goes on where the one before it stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from worker.claiming.ready_jobs import ReadyJobs
from worker.claiming.scope import Scope
from worker.database.client import Database
from worker.models import Partition
from worker.system.board import Header

LOOK_SECONDS = 0.05


class StrangersWatch:
    """Tells the board of jobs that this run leaves to others, as workers do that meet one."""

    def __init__(
        self,
        db: Database,
        header: Header,
        own: Callable[[], Scope],
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._db = db
        self._header = header
        self._own = own
        self._look_seconds = look_seconds
        self._ready_jobs = ReadyJobs(db, Partition(0, 1))
        self._stretches: Iterator[tuple[int, int, int]] = iter(())

    def look(self) -> None:
        """Look on for a moment, from the first job again when all have been seen."""
        if self._header.has_strangers or not (own := self._own()).is_limited:
            return
        deadline = time.monotonic() + self._look_seconds
        has_begun_anew = False
        while True:
            stretch = next(self._stretches, None)
            if stretch is not None and self._has_stranger(own, stretch):
                self._header.has_strangers = True
                return
            if stretch is None and has_begun_anew:
                return
            if stretch is None:
                self._stretches, has_begun_anew = self._ready_jobs.stretches(), True
            if time.monotonic() >= deadline:
                return

    def _has_stranger(self, own: Scope, stretch: tuple[int, int, int]) -> bool:
        priority, after, until = stretch
        where = {"priority": priority, "after": after, "until": until, **own.choices()}
        return self._db.fetch_one("stranger_in_stretch", **where) is not None
