"""How many workers a run with `--workers auto` has, decided from readings of the machine alone.

It begins with one for each core, adds while processors and memory are free and each step has paid,
and takes back what does not pay or is too much. Nothing is read or changed here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from worker.system.headroom import Spare

# How long a number is tried at least, how many jobs each worker must end meanwhile (twice as many
# after a small step, whose gain is small), and how long at most: long jobs are not waited for.
LEAST_SECONDS, JOBS_EACH, MOST_SECONDS = 3.0, 4, 8.0
# With fewer jobs per worker, the rate is only an estimate; with half as many, a poor one.
JOBS_THAT_TELL = 2
# How long new workers may take to have their browsers.
SETTLE_SECONDS = 15.0
# With less of the processors free nothing is added.
FREE_SHARE = 0.05
# If the rate says nothing, this share of the processors has to be free.
FREE_BLINDLY = 0.5
# The processors are overloaded when less than this share is free for this time.
NONE_FREE, FULL_SECONDS = 0.02, 60.0
# The least that added workers must bring, as a share of what as many others do.
PAYING_SHARE = 0.2
# Numbers whose rates differ by less than this are equally good; the lowest is kept.
AS_GOOD = 0.97
# How long a number that did not pay is not tried again: twice as long each time.
PATIENCE_SECONDS, LONGEST_PATIENCE_SECONDS = 60.0, 1800.0
# After this time a measured rate is too old to use: sites and neighbours change.
OLD_SECONDS = 600.0
# Two rates of one number that differ by more than this: the site or the machine has changed.
JUMP_SHARE = 0.3
# A run whose jobs will last no longer than this starts no browsers for them.
END_SECONDS = 10.0
# Wait this long between two steps back: a worker that is to rest has to finish its job first.
BACK_SECONDS = 10.0
# How much memory and /dev/shm a worker is expected to need before its browser has started.
GUESSED_MB, SHM_MB = 250.0, 16.0
# Memory that is left to the machine. No worker is added if that would use it; when half of it is
# used, there are too many workers.
KEPT_MB, KEPT_SHARE = 400.0, 0.05


def room_for(spare: Spare, each_mb: float) -> int:
    """Say for how many more workers there is memory; 0 if there is less than for one."""
    by_memory = (spare.memory_mb - _kept_mb(spare)) / each_mb
    by_shm = spare.shm_mb / SHM_MB - 1
    return max(0, math.floor(min(by_memory, by_shm, 1e6)))


def short_of(spare: Spare, *, had_too_little: bool = False) -> str:
    """Name what there is too little of, if a worker was killed or could not start, or soon will."""
    if spare.memory_mb < _kept_mb(spare) / 2:
        return "memory"
    if spare.shm_mb < SHM_MB / 2:
        return "/dev/shm"  # noqa: S108
    return "memory or processes" if had_too_little else ""


def _kept_mb(spare: Spare) -> float:
    whole = spare.memory_mb / spare.memory_share if spare.memory_share else 0.0
    return max(KEPT_MB, KEPT_SHARE * whole)


@dataclass(frozen=True, slots=True)
class Reading:
    """How run and machine stand at one moment, of the monotonic clock."""

    at: float
    # Jobs that have ended since the run began.
    ended: int
    # Jobs that could be claimed now.
    ready: int
    # Whether every worker that is wanted has its browser.
    is_settled: bool
    # The share of the processors that was free since the last reading.
    cpu_free: float
    # For how many more workers there is memory, and which of it is short, if one is.
    room: int
    short_of: str = ""


@dataclass(slots=True)
class HeadCount:
    """The number of workers, between 1 and the most; begins with `number`."""

    number: int
    most: int
    _first: int = field(init=False)
    _changed_at: float = field(init=False, default=0.0)
    # The stretch of time that is being judged.
    _began_at: float | None = field(init=False, default=None)
    _ended_before: int = field(init=False, default=0)
    _last_at: float = field(init=False, default=0.0)
    _free_seconds: float = field(init=False, default=0.0)
    # Jobs a second of each number that was tried, and when that was measured.
    _rates: dict[int, tuple[float, float]] = field(init=False, default_factory=dict)
    # The number before the step that is on trial.
    _before: int | None = field(init=False, default=None)
    # A number that did not pay, until when it is not tried again, and for how long that was.
    _ceiling: int | None = field(init=False, default=None)
    _ceiling_until: float = field(init=False, default=0.0)
    _patience: float = field(init=False)
    # The same of taking some back because the processors have nothing to spare.
    _floor_until: float = field(init=False, default=0.0)
    _floor_patience: float = field(init=False)
    # How often some were taken back, and rightly.
    _eased: int = field(init=False, default=0)
    # Since when the processors have had nothing to spare.
    _full_since: float | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._first = self.number
        self._patience = self._floor_patience = PATIENCE_SECONDS

    def forget(self) -> None:
        """Begin to measure anew: the run was held up by something else."""
        self._began_at = None

    def look(self, now: Reading) -> str:
        """Take a reading into account; return why the number has changed, or nothing."""
        if now.short_of:
            return self._shrink(now)
        is_new = not now.is_settled and now.at - self._changed_at < SETTLE_SECONDS
        if is_new or self._began_at is None:
            self._begin(now)
            return ""
        self._free_seconds += now.cpu_free * (now.at - self._last_at)
        self._last_at = now.at
        seconds, jobs = now.at - self._began_at, now.ended - self._ended_before
        if seconds < LEAST_SECONDS or (seconds < MOST_SECONDS and jobs < self._jobs_wanted):
            return ""
        rate, free = jobs / seconds, self._free_seconds / seconds
        if jobs < JOBS_THAT_TELL * self.number:
            if jobs >= self.number:
                self._rates.setdefault(self.number, (rate, now.at))
            # It is counted on, until the rate says more.
            return self._grow(now, None, free)
        self._begin(now)
        return self._judge(now, rate) or self._grow(now, rate, free) or self._ease(now, free)

    @property
    def _jobs_wanted(self) -> int:
        """After how many jobs to judge."""
        is_small_step = self._before is not None and self.number < 1.5 * self._before
        return JOBS_EACH * self.number * (2 if is_small_step else 1)

    def _begin(self, now: Reading) -> None:
        self._began_at = self._last_at = now.at
        self._ended_before = now.ended
        self._free_seconds = 0.0

    def _change(self, now: Reading, number: int, *, is_trial: bool) -> None:
        self._before = self.number if is_trial else None
        self.number, self._changed_at = number, now.at
        self._full_since = None
        self._begin(now)

    def _shrink(self, now: Reading) -> str:
        """Take some back at once: memory is short, and the next thing that happens is a kill."""
        if self.number == 1 or now.at - self._changed_at < BACK_SECONDS:
            return ""
        self._hold_below(now, self.number)
        self._change(now, self.number - max(1, self.number // 4), is_trial=False)
        return f"the machine is short of {now.short_of}"

    def _judge(self, now: Reading, rate: float) -> str:
        """Go back from a number that did not pay."""
        self._learn(now, rate)
        before, self._before = self._before, None
        then = None if before is None else self._known_rate(now, before)
        if before is None or then is None:
            return ""
        if before < self.number:
            wanted = 1 + PAYING_SHARE * (self.number / before - 1)
            if rate >= then * wanted:
                self._patience = PATIENCE_SECONDS
                return ""
            self._hold_below(now, self.number)
            back = self._lowest_as_good(now, before)
            why = f"{self.number} brought no more than {back}"
        else:
            if rate >= then * (1 - 0.5 * (1 - self.number / before)):
                self._eased += 1
                return ""
            self._keep_floor(now)
            back, why = before, f"{self.number} brought less than {before}"
        self._change(now, back, is_trial=False)
        return why

    def _learn(self, now: Reading, rate: float) -> None:
        known = self._known_rate(now, self.number)
        if known is not None and abs(rate - known) > JUMP_SHARE * known:
            # Site or machine have changed: what was known of other numbers is no longer true.
            known, self._rates = None, {}
        self._rates[self.number] = (rate if known is None else (known + rate) / 2, now.at)

    def _grow(self, now: Reading, rate: float | None, free: float) -> str:
        """Add as many as the free share of the processors is good for, twice as many at most."""
        if free < (FREE_SHARE if rate is not None else FREE_BLINDLY) or now.room < 1:
            return ""
        if rate is not None and now.ready < rate * END_SECONDS:
            return ""
        fitting = math.ceil(self.number / max(1 - free, 0.05))
        wish = min(max(fitting, self.number + 1), 2 * self.number, self.number + now.room)
        wish = min(wish, self.most, self._limit(now), max(now.ready // 2, 1))
        if wish <= self.number:
            return ""
        if self._eased:
            # What was taken back is wanted again.
            self._keep_floor(now)
        self._change(now, wish, is_trial=True)
        return f"{free:.0%} of the processor time is free"

    def _ease(self, now: Reading, free: float) -> str:
        """Try one fewer where the processors are never free, and there are more than cores."""
        if free >= NONE_FREE or self.number <= self._first or now.at < self._floor_until:
            self._full_since = None
            return ""
        if self._full_since is None:
            self._full_since = now.at
        if now.at - self._full_since < FULL_SECONDS:
            return ""
        self._change(now, self.number - max(1, self.number // 8), is_trial=True)
        return "the processors have no time to spare"

    def _keep_floor(self, now: Reading) -> None:
        """Take none back for a while, shorter if it was right several times in a row."""
        if self._eased > 1:
            self._floor_patience = PATIENCE_SECONDS
        self._eased = 0
        self._floor_until = now.at + self._floor_patience
        self._floor_patience = min(2 * self._floor_patience, LONGEST_PATIENCE_SECONDS)

    def _hold_below(self, now: Reading, number: int) -> None:
        is_new = now.at >= self._ceiling_until
        self._ceiling, self._ceiling_until = number, now.at + self._patience
        if is_new:
            self._patience = min(2 * self._patience, LONGEST_PATIENCE_SECONDS)

    def _limit(self, now: Reading) -> int:
        """Say up to which number to go now."""
        if self._ceiling is None or now.at >= self._ceiling_until:
            return self.most
        return self._ceiling - 1

    def _known_rate(self, now: Reading, number: int) -> float | None:
        rate, at = self._rates.get(number, (0.0, now.at))
        return rate if rate and now.at - at < OLD_SECONDS else None

    def _lowest_as_good(self, now: Reading, most: int) -> int:
        """Find the lowest number that did as well as any that was tried, up to the most."""
        known = {
            number: rate
            for number in sorted(self._rates)
            if number <= most and (rate := self._known_rate(now, number)) is not None
        }
        best = max(known.values(), default=0.0)
        return next((number for number, rate in known.items() if rate >= AS_GOOD * best), most)
