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

    def is_free(incarnation: int) -> bool:
        if only is not None:
            return incarnation == only
        owner = db.fetch_one("worker_process", incarnation=incarnation)
        return owner is None or is_gone(owner)

    written = []
    for incarnation, entry in journal.read(folder):
        if is_free(incarnation) and (status := journal.replay(queue, entry)) is not None:
            written.append((entry.claim.job_id, status))
    for incarnation, path in journal.half_written(folder):
        if is_free(incarnation):
            # It died while it wrote this; its job is settled as that of any dead worker.
            path.unlink(missing_ok=True)
    return written
