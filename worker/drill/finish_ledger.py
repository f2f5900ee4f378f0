"""Every finish, noted by the server itself: a trigger that knows nothing of Nightshift's queries.

For scratch databases only, where reliability is proved: a job that is finished twice shows here,
whatever the queue believes.
"""

from __future__ import annotations

from collections import Counter

from worker.database.client import Database


def install(db: Database) -> None:
    """Note every change of a job to done from now on."""
    db.execute("create_finish_ledger")
    db.execute("create_finish_trigger")


def finishes(db: Database) -> Counter[int]:
    """Count how often each job was finished."""
    return Counter({row["job_id"]: int(row["times"]) for row in db.fetch_all("count_finishes")})
