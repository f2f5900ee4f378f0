"""Writing the outcomes that dead workers of this host left in the journal, under their fences."""

from __future__ import annotations

from pathlib import Path

from worker.database.client import Database
from worker.models import Status
from worker.queue import journal
from worker.queue.claims import Queue
from worker.recovery.dead_owners import is_gone


def replay(
    db: Database, queue: Queue, folder: Path, *, only: int | None = None
) -> list[tuple[int, Status]]:
    """Write the outcomes that workers of this host left behind; a living one writes its own.

    Returns each job that was written, with its status.
    """
    written = []
    for incarnation, entry in journal.read(folder):
        if only is not None:
            is_free = incarnation == only
        else:
            owner = db.fetch_one("worker_process", incarnation=incarnation)
            is_free = owner is None or is_gone(owner)
        if is_free and (status := journal.replay(queue, entry)) is not None:
            written.append((entry.claim.job_id, status))
    return written
