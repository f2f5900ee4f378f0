"""When faults strike: spread over the jobs, dealt in an order that the seed decides.

A fault waits until the pool has ended its share of jobs since the one before, so that it strikes
a pool at work; except for some that are meant to strike into the trouble another has made.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence

from worker.drill.faults import FAULTS, Fault, deck
from worker.drill.pool import Pool
from worker.drill.strike import NoTarget, Strike
from worker.drill.targets import Register
from worker.drill.world import World

# The last jobs are left in peace, so that every fault has somebody to recover for.
SHARE_UNDER_FIRE = 0.97
SHARE_IN_TROUBLE = 0.2
TROUBLE_SECONDS = 3.0


class Attack:
    """All faults of one drill; each runs in a thread, from its strike to its undoing."""

    def __init__(
        self,
        world: World,
        pool: Pool,
        register: Register,
        *,
        jobs: int,
        faults: int,
        rng: random.Random,
        table: Sequence[Fault] = FAULTS,
    ) -> None:
        self.strikes: list[Strike] = []
        self.missed: list[Strike] = []
        self.faults = faults
        self._jobs = jobs
        self._ended_before = 0
        self._world = world
        self._pool = pool
        self._register = register
        self._rng = rng
        self._table = table
        self._cards = deck(faults, rng, table)
        self._threads: list[threading.Thread] = []
        self._busy: set[str] = set()
        self._is_over = threading.Event()
        self._strike_at: float | None = None

    @property
    def is_going_on(self) -> bool:
        """Whether a fault is not undone yet."""
        return any(thread.is_alive() for thread in self._threads)

    @property
    def has_more(self) -> bool:
        """Whether faults are left to strike."""
        return bool(self._cards)

    def expect(self, jobs: int) -> None:
        """Spread the faults that are left over this many jobs in all."""
        self._jobs = jobs

    def strike_if_due(self, ended: int) -> None:
        """Strike with the next fault that finds somebody to hit, if enough jobs have ended.

        Raises what went wrong with a fault itself, such as a server that does not start again.
        """
        self._raise_problems()
        self._replace_misses()
        if not self._cards or not self._is_due(ended):
            return
        self._strike_at, self._ended_before = None, ended
        for index, fault in enumerate(self._cards):
            if self._busy.isdisjoint(fault.exclusive) and self._strike(fault):
                del self._cards[index]
                if self._rng.random() < SHARE_IN_TROUBLE:
                    self._strike_at = time.monotonic() + self._rng.uniform(0, TROUBLE_SECONDS)
                return
        # None of the cards can strike now, and perhaps never; another takes the place of one.
        self._cards[:1] = deck(1, self._rng, self._table)

    def close(self) -> None:
        """Undo what is still going on."""
        self._is_over.set()
        for thread in self._threads:
            thread.join()
        self._raise_problems()
        self._replace_misses()

    def _replace_misses(self) -> None:
        """Deal another card for every deed that was tried and never happened."""
        misses = [strike for strike in self.strikes if strike.ended_at and strike.miss]
        for strike in misses:
            self.strikes.remove(strike)
            self.missed.append(strike)
            self._cards += deck(1, self._rng, self._table)
            self._note(f"{strike.struck_at:.3f} {strike.kind} MISSED: {strike.miss}")

    def _note(self, text: str) -> None:
        with self._world.strikes.open("a", encoding="utf-8") as log:
            log.write(f"{time.strftime('%H:%M:%SZ', time.gmtime())} {text}\n")

    def _raise_problems(self) -> None:
        for strike in self.strikes:
            if strike.problem is not None:
                problem, strike.problem = strike.problem, None
                raise problem

    def _is_due(self, ended: int) -> bool:
        if self._strike_at is not None and time.monotonic() >= self._strike_at:
            return True
        jobs_left = self._jobs * SHARE_UNDER_FIRE - self._ended_before
        return ended - self._ended_before >= jobs_left / (len(self._cards) + 1)

    def _strike(self, fault: Fault) -> bool:
        """Start a fault and wait for its strike; tell whether it has found a target."""
        strike = Strike(
            self._world,
            self._pool,
            self._register,
            random.Random(self._rng.random()),
            self._is_over,
            kind=fault.kind,
        )
        self._busy.update(fault.exclusive)
        thread = threading.Thread(target=self._run, args=(fault, strike), name=fault.kind)
        thread.start()
        strike.is_decided.wait()
        if not strike.struck_at:
            thread.join()
            if strike.problem is not None:
                raise strike.problem
            return False
        self._threads.append(thread)
        self.strikes.append(strike)
        self._note(f"{strike.struck_at:.3f} {strike.kind} {strike.victims or ''}")
        return True

    def _run(self, fault: Fault, strike: Strike) -> None:
        try:
            fault.act(strike)
        except NoTarget:
            pass
        except Exception as problem:  # noqa: BLE001 - raised again when the drill ends.
            strike.problem = problem
        finally:
            strike.ended_at = time.monotonic()
            strike.is_decided.set()
            self._busy.difference_update(fault.exclusive)
