"""The course of a drill: keep the pool going, strike as the jobs go by, drain, audit.

Faults are paced by the jobs that have ended: while the pool is down none follows, except those
that are meant to strike into another one's trouble.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field

from worker.database import Database
from worker.drill.faults import Fault, NoTarget, Strike, deck
from worker.drill.ledger import Findings, judge, read_database, read_ledger
from worker.drill.pool import Pool, reap_orphans, strangers
from worker.drill.recovery import summarise
from worker.drill.report import Report
from worker.drill.scratch import Scratch

TICK_SECONDS = 0.05
REAP_SECONDS = 1.0
# The last jobs are left in peace, so that every fault has somebody to recover for.
SHARE_UNDER_FIRE = 0.97
# So often a fault strikes into the trouble that the one before has made.
SHARE_IN_TROUBLE = 0.2
STALL_SECONDS = 120.0
# A process that has been killed is gone within this; then it is left behind.
VANISH_SECONDS = 5.0


@dataclass(slots=True)
class Course:
    """One drill from the first launcher to the audit."""

    scratch: Scratch
    jobs: int
    faults: int
    workers: int
    seed: int
    say: Callable[[str], None]
    strikes: list[Strike] = field(default_factory=list)
    _threads: list[threading.Thread] = field(default_factory=list)
    _busy: set[str] = field(default_factory=set)
    _is_over: threading.Event = field(default_factory=threading.Event)
    _read_bytes: int = 0
    _ended_jobs: set[int] = field(default_factory=set)
    _progress_at: float = 0.0
    _strike_at: float | None = None

    def run(self) -> Report:
        """Drain the queue under fire and audit what came of it."""
        rng = random.Random(self.seed)
        self.scratch.enqueue(self.jobs, rng)
        pool = Pool(self.scratch, self.workers)
        began = self._progress_at = time.monotonic()
        try:
            broken_off = self._drain_under_fire(pool, deck(self.faults, rng), rng)
            seconds = time.monotonic() - began
        finally:
            self._end_faults()
            pool.stop()
        findings = self._audit()
        executions = read_ledger(self.scratch.ledger)
        return Report(
            server=self.scratch.version,
            workers=self.workers,
            seed=self.seed,
            seconds=round(seconds, 1),
            launchers=pool.starts,
            findings=findings,
            kinds=summarise(self.strikes, executions),
            broken_off=broken_off,
        )

    def _drain_under_fire(self, pool: Pool, cards: list[Fault], rng: random.Random) -> str | None:
        reaped_at = told_at = 0.0
        while not (pool.is_drained and not any(thread.is_alive() for thread in self._threads)):
            now = time.monotonic()
            pool.keep_going()
            self._look_for_progress(now)
            if cards and self._is_strike_due(now):
                self._strike(pool, cards, rng)
            if now - reaped_at > REAP_SECONDS:
                reaped_at = now
                reap_orphans({pool.pid})
            if now - told_at > 10.0:
                told_at = now
                self.say(
                    f"{len(self._ended_jobs):,} of {self.jobs:,} jobs, "
                    f"{len(self.strikes)} of {self.faults} faults"
                )
            if now - self._progress_at > STALL_SECONDS:
                return f"no job has ended for {STALL_SECONDS:g} s"
            time.sleep(TICK_SECONDS)
        return None

    def _look_for_progress(self, now: float) -> None:
        """Read what was added to the ledger; half a line is left for the next time."""
        if not self.scratch.ledger.exists():
            return
        with self.scratch.ledger.open("rb") as file:
            file.seek(self._read_bytes)
            *lines, _ = file.read().split(b"\n")
        for line in lines:
            self._read_bytes += len(line) + 1
            event, job, *_ = line.split()
            if event != b"start":
                self._ended_jobs.add(int(job))
                self._progress_at = now

    def _is_strike_due(self, now: float) -> bool:
        if self._strike_at is not None:
            return now >= self._strike_at
        wanted = len(self._ended_jobs) * self.faults / (self.jobs * SHARE_UNDER_FIRE)
        return wanted > len(self.strikes) + 1

    def _strike(self, pool: Pool, cards: list[Fault], rng: random.Random) -> None:
        """Strike with the first fault that finds somebody to hit."""
        for index, fault in enumerate(cards):
            if fault.exclusive in self._busy:
                continue
            strike = self._begin(fault, pool, random.Random(rng.random()))
            if strike is not None:
                del cards[index]
                self.strikes.append(strike)
                in_trouble = rng.random() < SHARE_IN_TROUBLE
                self._strike_at = time.monotonic() + rng.uniform(0, 3) if in_trouble else None
                return
        # Nobody is there to be hit: a moment later somebody will be.
        self._strike_at = None

    def _begin(self, fault: Fault, pool: Pool, rng: random.Random) -> Strike | None:
        strike = Strike(self.scratch, pool, rng, self._is_over, kind=fault.kind)
        has_missed = threading.Event()

        def act() -> None:
            try:
                fault.act(strike)
            except NoTarget:
                has_missed.set()
            except Exception as problem:  # noqa: BLE001 - reported when the drill ends.
                strike.problem = problem
            finally:
                strike.ended_at = time.monotonic()
                strike.has_struck.set()
                self._busy.discard(fault.exclusive or "")

        if fault.exclusive is not None:
            self._busy.add(fault.exclusive)
        thread = threading.Thread(target=act, name=fault.kind)
        thread.start()
        strike.has_struck.wait()
        if has_missed.is_set():
            thread.join()
            return None
        self._threads.append(thread)
        return strike

    def _end_faults(self) -> None:
        """Undo what is still going on; raise what went wrong with a fault itself."""
        self._is_over.set()
        for thread in self._threads:
            thread.join()
        for strike in self.strikes:
            if strike.problem is not None:
                raise strike.problem

    def _audit(self) -> Findings:
        self.scratch.server.start()
        with closing(Database(self.scratch.database)) as db:
            jobs, attempts = read_database(db)
        findings = judge(self.jobs, jobs, attempts, read_ledger(self.scratch.ledger))
        findings.leftovers = self._leftovers()
        return findings

    def _leftovers(self) -> list[str]:
        known = {self.scratch.server.pid() or 0, self.scratch.site_pid}
        deadline = time.monotonic() + VANISH_SECONDS
        while (left := strangers(known)) and time.monotonic() < deadline:
            reap_orphans(set())
            time.sleep(TICK_SECONDS)
        folders = [
            str(path.relative_to(self.scratch.folder))
            for name in ("tmp", "journal")
            for path in sorted((self.scratch.state_dir / name).glob("**/*"))
            if name == "tmp" or path.is_file()
        ]
        return [f"process {each}" for each in left] + folders
