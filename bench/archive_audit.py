"""The books of the archive drill: every job is where it should be, once, with its history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from worker.database.client import Database


def audit(db: Database, finished: int, last: int, claimed: Sequence[int]) -> list[str]:
    """Compare both tables with the numbers put in and the numbers that workers noted."""
    archived, queued = _states(db, "archived_jobs"), _states(db, "work_queue")
    wrong = []
    if len(archived) != len(set(archived)) or set(archived) & set(queued):
        wrong.append("a job is archived twice, or both archived and in the queue")
    if set(archived) | set(queued) != set(range(1, last + 1)):
        wrong.append("a job is in neither table, or in one without having been put in")
    if set(archived) != set(range(1, finished + 1)):
        wrong.append("not the jobs that finished long ago are archived, and only they")
    if any(status != ("error" if n % 10 == 0 else "done") for n, status in archived.items()):
        wrong.append("a job changed its state on its way into the archive")
    twice = [job for job, times in Counter(claimed).items() if times > 1]
    if twice or {job for job, status in queued.items() if status == "done"} != set(claimed):
        wrong.append("the jobs done are not those that the workers have noted, once each")
    if any(status not in ("done", "pending") for status in queued.values()):
        wrong.append("a job in the queue is neither done nor pending")
    left = db.run_statement("SELECT COUNT(*) AS n FROM job_attempts")[0]["n"]
    moved = db.run_statement("SELECT COUNT(*) AS n FROM archived_attempts")[0]["n"]
    if (left, moved) != (0, finished // 10):
        wrong.append(f"of {finished // 10} attempts {moved} are archived and {left} are not")
    return wrong


def _states(db: Database, table: str) -> dict[int, str]:
    rows = db.run_statement(f"SELECT id, status FROM {table}")
    found = {row["id"]: row["status"] for row in rows}
    return found if len(found) == len(rows) else {}
