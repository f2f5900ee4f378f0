"""Jobs of closed profiles and accounts that can only fail: they end without waiting for them.

Other searches leave them out with all jobs of those owners, so they are looked for here, with a
small share of the time, and judged without locks. Where no profile or account is closed, and where
nothing has changed since the last look, nothing is read.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator

from worker.claiming.closed_keys import ClosedKeys, ClosedOwners
from worker.claiming.hopelessness import Foresee, Judge
from worker.claiming.ready_jobs import Level, ReadyJobs, Ring
from worker.claiming.search_allowance import Allowance
from worker.claiming.search_trail import News
from worker.database.client import Database
from worker.models import Candidate, Ending, Partition

AT_ONCE = 256
LOOK_SECONDS = 2.0
# What nobody tells of, such as a profile that was removed, is noticed after this long.
UNTOLD_SECONDS = 60.0


class HopelessJobs:
    """The next such jobs for one worker, of its own partition.

    `foresee` tells how a job would end before a browser is touched, by what its run has loaded.
    """

    def __init__(
        self,
        db: Database,
        partition: Partition,
        closures: ClosedKeys,
        news: Callable[[], News | None],
    ) -> None:
        self.foresee: Foresee = lambda candidate: None
        self._db = db
        self._partition = partition
        self._closures = closures
        self._news = news
        self._ready_jobs = ReadyJobs(db, partition)
        self._owners = ClosedOwners(closures)
        self._found: deque[Candidate] = deque()
        # What is left of the look under way, and whether it has found anything.
        self._pages: Iterator[list[Candidate]] | None = None
        self._is_vain = True
        self._allowance = Allowance()
        self._look_at = 0.0
        # What was known when a look began that was in vain, and until when that is enough.
        self._known_then: object = None
        self._known_until = 0.0

    def has_next(self) -> bool:
        """Whether there was such a job when they were last looked for."""
        now = time.monotonic()
        if self._found or now < self._look_at or not self._allowance.is_left():
            return bool(self._found)
        self._closures.refresh()
        if self._pages is None and not self._is_worth_a_look(now):
            self._look_at = now + LOOK_SECONDS
            return False
        self._look()
        then, now = now, time.monotonic()
        # All workers of a pool together keep to one share.
        self._allowance.spend((now - then) * self._partition.total)
        self._look_at = now + (LOOK_SECONDS if self._pages is None else 0.0)
        return bool(self._found)

    def next(self) -> Candidate | None:
        """Return such a job, or None when there is none now; it may have changed since."""
        return self._found.popleft() if self.has_next() else None

    def look_through(self, is_stopping: Callable[[], bool]) -> bool:
        """Look to the end at once, before a run goes home; return whether there is one."""
        self._closures.refresh()
        self._pages = None
        while self._owners.names and not self._found and not is_stopping():
            self._look()
            if self._pages is None:
                break
        return bool(self._found)

    def ending_of(self, candidate: Candidate) -> Ending | None:
        """Say how a job will end whatever becomes of its profile; None if it is not so any more."""
        return self._judge([candidate]).ending_of(candidate)

    def _judge(self, page: list[Candidate]) -> Judge:
        return Judge.of(self._db, self._closures, self.foresee, page)

    def _is_worth_a_look(self, now: float) -> bool:
        if not self._owners.names:
            return False
        news = self._news()
        known = None if news is None else (news, self._owners.names)
        if known is not None and known == self._known_then and now < self._known_until:
            return False
        self._known_then, self._known_until = known, now + UNTOLD_SECONDS
        return True

    def _look(self) -> None:
        """Look at the next page of the jobs of closed owners."""
        if self._pages is None:
            self._pages, self._is_vain = self._all_pages(), True
        page = next(self._pages, None)
        if page is not None:
            judge = self._judge(page)
            self._found.extend(each for each in page if judge.ending_of(each) is not None)
            self._is_vain = self._is_vain and not self._found
            return
        self._pages = None
        if not self._is_vain:
            # Those behind them in their orders may be such jobs, too.
            self._known_then = None

    def _all_pages(self) -> Iterator[list[Candidate]]:
        for priority, before, until in self._ready_jobs.stretches():
            after = before
            while after < until and self._owners.names:
                level = Level(priority, after + 1, until)
                page = self._ready_jobs.read(Ring.OWN, level, after, until, self._owners, AT_ONCE)
                yield [each for each in page if self._closures.scope.takes(each)]
                after = page[-1].job_id if len(page) == AT_ONCE else until
