"""Which job a worker should try to claim next: rows read without locks, at most a second old.

First its own partition, then what the others have left. Older ids come first, but jobs that are
another's or held back are walked through once (`ready_jobs.sql`). Claiming is the queue's.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator

from worker.claiming.batch_size import BatchSize
from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.follow_ups import FollowUps
from worker.claiming.hopeless_jobs import HopelessJobs
from worker.claiming.impatient_jobs import ImpatientJobs
from worker.claiming.ready_jobs import LEVELS_ONE_BY_ONE, Level, ReadyJobs, Ring
from worker.claiming.search_allowance import Allowance, rest_seconds
from worker.claiming.search_trail import News, Trail
from worker.database.client import Database
from worker.models import Candidate, Partition

MAX_AGE_SECONDS = 1.0

# Nobody waits longer for the end of a look: it is continued at the next one.
_LOOK_SECONDS = 0.5
_COSTLY_SECONDS = 0.1
# How long idle workers wait between two looks (all but the first), and how long all of them wait
# before they look at closed keys again, unless one opens earlier.
_IDLE_SECONDS = 1.0
_CLOSED_SECONDS = 2.0

# A job whose row somebody holds is left alone for this long.
_AVOID_SECONDS = 10.0

# A way of looking, and a priority; None is all that are not looked through one by one.
_Source = tuple[Ring, int | None]
_Found = tuple[Candidate, _Source]


class Candidates:
    """The next jobs for one worker, in order of priority and then of id.

    `news` tells what the pool knows of the ready jobs, if it does: more are worth a look back.
    `is_first` tells whether this is the first idle worker: long looks at all jobs are left to it.
    """

    def __init__(
        self,
        db: Database,
        partition: Partition,
        *,
        help_others: bool = True,
        closures: ClosedKeys | None = None,
        news: Callable[[], News | None] = lambda: None,
        is_first: Callable[[], bool] = lambda: True,
    ) -> None:
        self._db = db
        self._closures = closures or ClosedKeys(db)
        self._partition = partition
        self._news = news
        self._is_first = is_first
        self._ready_jobs = ReadyJobs(db, partition)
        self._rings = [Ring.OWN]
        if help_others and partition.total > 1:
            self._rings += [Ring.HELPED, Ring.ANY]
        elif help_others:
            self._rings = [Ring.ANY]
        self._found: deque[_Found] = deque()
        self._read_at = 0.0
        self._batch = BatchSize()
        self._trails: dict[_Source, Trail] = {}
        self._handed_out: _Found | None = None
        self._avoided: dict[int, float] = {}
        self._allowance = Allowance()
        self._is_idle = self._is_any_costly = False
        self._look_until = self._look_at = self._refresh_at = 0.0
        self.impatient = ImpatientJobs(db, partition, self._closures)
        self.hopeless = HopelessJobs(db, partition, self._closures, news)
        self.follow_ups = FollowUps(db, self._closures)

    def has_next(self) -> bool:
        """Whether there was something to claim at most a second ago."""
        self._drop_closed()
        has_looked = time.monotonic() < self._look_at
        if has_looked and not self._found and self.follow_ups.has_next():
            return True
        if self._is_idle and has_looked and not self._is_first():
            return False
        if not self._found or not self._is_fresh():
            self._refill()
        return bool(self._found) or self.follow_ups.has_next()

    def next(self) -> Candidate | None:
        """Return a job that was ready at most a second ago, or None when there is none."""
        if not self.has_next():
            return None
        first = self._found[0][0] if self._found else None
        followed = self.follow_ups.next(before=first)
        return self._take() if followed is None and first is not None else followed

    def at_hand(self) -> Candidate | None:
        """Return such a job only if that needs no look at the database, and no leave."""
        self._drop_closed()
        if not self._found or not self._is_fresh() or self._closures.is_watched(self._found[0][0]):
            return None
        if self.follow_ups.has_next(before=self._found[0][0]):
            return None
        return self._take()

    def peek(self) -> Candidate | None:
        """Return the job that will probably be next; nothing is looked up, and nothing promised."""
        return self._found[0][0] if self._found else None

    def avoid(self, candidate: Candidate) -> None:
        """Leave one job alone for a while: somebody holds its row."""
        now = time.monotonic()
        self._avoided = {job: until for job, until in self._avoided.items() if until > now}
        self._avoided[candidate.job_id] = now + _AVOID_SECONDS

    def look_everywhere(self) -> None:
        """Forget what was found out so far: somebody knows of a job that was overlooked."""
        self._trails.clear()

    def _drop_closed(self) -> None:
        while self._found and self._closures.is_closed(self._found[0][0]):
            self._found.popleft()

    def _is_fresh(self) -> bool:
        return time.monotonic() - self._read_at <= MAX_AGE_SECONDS

    def _take(self) -> Candidate:
        self._note_refusal()
        candidate, source = self._handed_out = self._found.popleft()
        trail = self._trail(source)
        trail.cursor = max(candidate.job_id, trail.cursor)
        return candidate

    def _note_refusal(self) -> None:
        """Remember the keys of a job that was handed out and refused: it is left behind, too."""
        if self._handed_out is not None and self._closures.is_closed(self._handed_out[0]):
            candidate, source = self._handed_out
            self._trail(source).left_out |= self._closures.closed_keys_of(candidate)

    def _refill(self) -> None:
        self._batch.learn(was_used_up=not self._found)
        self._found.clear()
        # What the gate has closed may be open by now; what it has not may be closed.
        self._note_refusal()
        self._refresh_closures()
        self._note_refusal()
        self._handed_out = None
        self._look_at = time.monotonic() + _IDLE_SECONDS
        if self._closures.is_all_closed:
            return
        self._look_until = time.monotonic() + _LOOK_SECONDS
        levels: list[Level | None] = []
        for ring in self._rings:
            self._found.extend(self._search(ring, levels))
            if self._found:
                self._read_at = time.monotonic()
                break
        self._is_idle = not self._found

    def _refresh_closures(self) -> None:
        now = time.monotonic()
        if self._is_idle and now < self._refresh_at:
            return
        self._closures.refresh()
        opening = self._closures.next_opening_seconds
        rest = _CLOSED_SECONDS if opening is None else min(opening, _CLOSED_SECONDS)
        self._refresh_at = now + rest

    def _search(self, ring: Ring, levels: list[Level | None]) -> list[_Found]:
        began, is_anybodys = time.monotonic(), ring is Ring.ANY and len(self._rings) > 1
        if is_anybodys and self._is_any_costly and not self._is_first():
            return []
        found = self._search_levels(ring, levels)
        if is_anybodys:
            self._is_any_costly = not found and time.monotonic() - began > _COSTLY_SECONDS
        return found

    def _search_levels(self, ring: Ring, levels: list[Level | None]) -> list[_Found]:
        for count, level in enumerate(self._each(levels)):
            is_rest = count == LEVELS_ONE_BY_ONE
            source = (ring, None if is_rest else level.priority)
            trail = self._trail(source)
            if is_rest:
                found = self._look_beyond(ring, level, trail)
            else:
                found = self._look_back(ring, level, trail) or self._walk_on(ring, level, trail)
            if found or is_rest:
                return [(candidate, source) for candidate in found]
        return []

    def _trail(self, source: _Source) -> Trail:
        if (trail := self._trails.get(source)) is None:
            trail = self._trails[source] = Trail(news_then=self._news())
        return trail

    def _each(self, known: list[Level | None]) -> Iterator[Level]:
        """Go through the priorities; each is asked for when it is needed, and only once."""
        level = None
        for count in range(LEVELS_ONE_BY_ONE + 1):
            if count == len(known):
                known.append(self._ready_jobs.next_level(level))
            if (level := known[count]) is None:
                return
            yield level

    def _walk_on(self, ring: Ring, level: Level, trail: Trail) -> list[Candidate]:
        """Look where nobody has looked before: from the cursor on."""
        began, after = time.monotonic(), max(trail.cursor, level.first - 1)
        while after < level.last:
            until = self._ready_jobs.end_of_stretch(after, level.last)
            trail.left_out |= self._closures.closed.keys()
            if found := self._read(ring, level, after, until):
                trail.note_first_walk(began, time.monotonic())
                return found
            after = trail.cursor = until
            trail.looked_back_at = now = time.monotonic()
            if now >= self._look_until:
                break
        trail.took_seconds += time.monotonic() - began
        return []

    def _look_back(self, ring: Ring, level: Level, trail: Trail) -> list[Candidate]:
        """Look behind the cursor: what came back, or is not held back any more, comes first."""
        if level.first > trail.cursor or not self._may_look_back(ring, trail):
            return []
        closed = self._closures.closed.keys()
        if trail.back is None or not trail.back_left_out <= closed:
            trail.back, trail.back_left_out = level.first - 1, set()
            trail.back_took, trail.back_news = 0.0, self._news()
        trail.back = max(trail.back, level.first - 1)
        while trail.back < trail.cursor:
            began = time.monotonic()
            until = self._ready_jobs.end_of_stretch(trail.back, trail.cursor)
            trail.back_left_out |= closed
            if found := self._read(ring, level, trail.back, until):
                return found
            trail.back, now = until, time.monotonic()
            trail.back_took += now - began
            self._allowance.spend(now - began)
            if now >= self._look_until or not self._allowance.is_left():
                return []
        trail.left_out, trail.back = trail.back_left_out, None
        trail.looked_back_at, trail.took_seconds = time.monotonic(), trail.back_took
        trail.news_then = trail.back_news
        return []

    def _may_look_back(self, ring: Ring, trail: Trail) -> bool:
        if not self._allowance.is_left():
            return False
        if not trail.left_out <= self._closures.closed.keys():
            return True
        if self._is_idle and ring is not self._rings[-1]:
            # The last way of looking finds whatever the others would.
            return False
        if self._has_news(trail):
            return True
        # All workers of an idle pool look for the same few jobs that may have come back unnoticed.
        workers = self._partition.total if self._is_idle else 1
        rest = rest_seconds(trail.took_seconds) * workers
        return time.monotonic() >= trail.looked_back_at + rest

    def _has_news(self, trail: Trail) -> bool:
        news, then = self._news(), trail.news_then
        if news is None or news == then:
            return False
        if then is not None and (self._is_idle or news.tells_of_more_than(then)):
            return True
        # At work there are fewer every time, which is no reason to look back.
        trail.news_then = news
        return False

    def _look_beyond(self, ring: Ring, level: Level, trail: Trail) -> list[Candidate]:
        """Look through all further priorities at once."""
        if trail.looked_back_at and not self._may_look_back(ring, trail):
            return []
        began = time.monotonic()
        trail.news_then, trail.left_out = self._news(), set(self._closures.closed)
        found = self._ready_jobs.read_beyond(ring, level, self._closures, self._batch.rows)
        now = time.monotonic()
        if found:
            # There may be more: this look was worth its time.
            trail.looked_back_at = 0.0
            return found
        trail.looked_back_at, trail.took_seconds = now, now - began
        self._allowance.spend(now - began)
        return []

    def _read(self, ring: Ring, level: Level, after: int, until: int) -> list[Candidate]:
        found = self._ready_jobs.read(ring, level, after, until, self._closures, self._batch.rows)
        if not self._avoided:
            return found
        now = time.monotonic()
        return [each for each in found if self._avoided.get(each.job_id, 0.0) <= now]
