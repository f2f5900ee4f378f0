"""Which workers go on with jobs that are no longer theirs: the heart shows it on the board.

So a job that was cancelled at work is really stopped, by its worker or by the launcher.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from worker.database.client import Database
from worker.queue import withdrawn
from worker.system.board import Entry, Phase

# Shorter jobs are over before anybody could stop them, and need not be asked for.
LEAST_SECONDS = 1.0


def note(db: Database, entries: Iterable[Entry]) -> None:
    """Look whether the jobs at work are still their workers', and show those that are not."""
    at_work: dict[tuple[int, int], Entry] = {}
    for entry in entries:
        seen = entry.snapshot()
        if seen.is_torn or seen.job_id is None or seen.phase >= Phase.SETTLING:
            continue
        if not seen.is_withdrawn and time.monotonic() - seen.claimed_at >= LEAST_SECONDS:
            at_work[seen.job_id, seen.fence] = entry
    for job_id, fence in withdrawn.find(db, at_work):
        at_work[job_id, fence].withdraw(job_id, fence)
