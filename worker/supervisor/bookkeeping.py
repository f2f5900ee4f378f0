"""What the heart writes down for reports: roll-ups, its run's pulse, outages of the database.

None of it may hold up what keeps jobs alive: each call is short, and what cannot be written now is
left for later.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from worker.database.best_effort import best_effort
from worker.database.client import Database
from worker.errors import DatabaseUnavailable
from worker.queue import events, runs
from worker.reporting.rollups import Rollups
from worker.supervisor.memory import memory_mb
from worker.system.board import Board, Entry, Phase
from worker.system.identity import this_host

LOOK_SECONDS = 5.0
# While minutes are caught up, this share of the time at the most.
CATCH_UP_SHARE = 0.05
# A connection that was lost and opened again is no outage.
MIN_OUTAGE_SECONDS = 1.0


@dataclass(slots=True)
class Bookkeeping:
    """The books of one run, as one heart keeps them."""

    db: Database
    board: Board
    run_id: int
    _rollups: Rollups = field(init=False)
    _next_look: float = 0.0
    _answered_at: float = 0.0
    # What the run has told of its tasks when it began.
    _without_browser: list[str] | None = None
    _last_slots: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._rollups = Rollups.of(self.db, f"run {self.run_id} on {this_host().name}")

    def keep_rollups(self) -> None:
        """Do the next piece of the roll-ups, if it is time and they are this run's to keep."""
        began = time.monotonic()
        if began < self._next_look:
            return
        is_more = False
        with best_effort(self.db, "the roll-ups were not kept"):
            is_more = self._rollups.beat()
        now = time.monotonic()
        rest = (now - began) / CATCH_UP_SHARE
        self._next_look = now + (min(rest, LOOK_SECONDS) if is_more else LOOK_SECONDS)

    def pulse(self) -> str:
        """Tell, as JSON, how the queue and each worker stand: what others read of this run."""
        header = self.board.header
        entries = self.board.entries
        told = zip(entries, memory_mb(entries), strict=True)
        workers = [_worker(entry, held) for entry, held in told]
        known: dict[str, Any] = {"workers": [*self._with_slots(workers)]}
        if self._without_browser is None:
            self._without_browser = runs.without_browser(self.db, self.run_id)
        if self._without_browser:
            known[runs.WITHOUT_BROWSER] = self._without_browser
        if header.has_strangers:
            known["has_strangers"] = True
        if header.claim_until:
            known["claims_for"] = max(0.0, header.claim_until - time.monotonic())
        if header.counted_at:
            known |= {
                "pending": header.pending,
                "in_progress": header.in_progress,
                "waiting": header.waiting,
                "held_back": header.held_back,
                "held_because": header.held_because,
            }
        return json.dumps(known)

    def _with_slots(self, workers: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Tell each worker's slot; places that rest, and have nothing to finish, are left out."""
        for place, slot in enumerate(self.board.allotment.slots):
            if slot is not None:
                self._last_slots[place] = slot
            if slot is not None or workers[place]["job_id"] is not None:
                yield {**workers[place], "slot": self._last_slots.get(place)}

    def note_answer(self) -> None:
        """Take note that the database answers; if it was away until now, keep how long."""
        header, now = self.board.header, time.monotonic()
        if away_since := header.database_away_since:
            # The first error comes when a timeout is over: it was away before that.
            seconds = now - (self._answered_at or away_since)
            if seconds >= MIN_OUTAGE_SECONDS:
                events.keep_outage(self.db, this_host().name, self.run_id, seconds)
            header.database_away_since = 0.0
        self._answered_at = now

    def close(self) -> None:
        """Let another run keep the roll-ups, at once."""
        with suppress(DatabaseUnavailable):
            self._rollups.release()


def _worker(entry: Entry, held_mb: float | None) -> dict[str, Any]:
    shown = entry.snapshot()
    has_job = shown.job_id is not None
    # Only where browsers run elsewhere.
    where = {"browser": shown.browser, "live_view": shown.live_view} if shown.browser else {}
    return where | {
        "incarnation": shown.incarnation,
        "phase": Phase(shown.phase).name.lower(),
        "job_id": shown.job_id,
        "job_seconds": time.monotonic() - shown.claimed_at if has_job else None,
        # The job's own limit, its task's, or the run's: whichever holds.
        "limit_seconds": round(shown.deadline - shown.claimed_at, 1) if has_job else None,
        "step": shown.step if has_job else "",
        "memory_mb": None if held_mb is None else round(held_mb),
    }
