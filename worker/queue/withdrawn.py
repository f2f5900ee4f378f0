"""Claims that are void while their workers live: their job was cancelled, or somebody has it again.

Only what a server shows for certain counts. A job that a server does not know, or shows as it was
before its claim, may be one that this member of a cluster has not got yet.
"""

from __future__ import annotations

from collections.abc import Collection

from worker.database.client import Database
from worker.models import Status

Held = tuple[int, int]


def find(db: Database, claims: Collection[Held]) -> list[Held]:
    """Return those of these (job, fence) claims that are void."""
    if not claims:
        return []
    ids = tuple(job_id for job_id, _ in claims)
    found = {row["id"]: row for row in db.fetch_all("standing_of_jobs", ids=ids)}
    gone = tuple(job_id for job_id in ids if job_id not in found)
    archived = db.fetch_all("fences_of_archived_jobs", ids=gone) if gone else []
    last = {row["id"]: row["fence"] for row in archived}
    void = []
    for job_id, fence in claims:
        if (row := found.get(job_id)) is not None:
            is_at_work = row["status"] == Status.IN_PROGRESS
            is_void = row["fence"] > fence or (row["fence"] == fence and not is_at_work)
        else:
            is_void = last.get(job_id, -1) >= fence
        if is_void:
            void.append((job_id, fence))
    return void
