"""Let only one process at a time check a profile.

It is a named lock of the database: one server's ends with its connection, so that a dead process
keeps none; that of a cluster ends with its lease at the latest.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from worker.database.client import Database
from worker.database.locks import Lock
from worker.errors import UsageError

# Longer than any vendor takes to stop a browser.
CHECK_SECONDS = 300.0


@contextmanager
def sole_check(db: Database, profile_id: str) -> Iterator[bool]:
    """Be the only one who checks a profile; False when another does."""
    lock = Lock("check", profile_id, lease_seconds=CHECK_SECONDS)
    if not lock.take(db):
        yield False
        return
    try:
        yield True
    finally:
        lock.release(db)


@contextmanager
def unchecked(db: Database, profile_id: str) -> Iterator[None]:
    """Let nobody check a profile meanwhile: a check stops whatever runs in it.

    Raises UsageError when somebody checks it at this moment.
    """
    with sole_check(db, profile_id) as is_ours:
        if not is_ours:
            raise UsageError(f"profile {profile_id} is being checked right now; try again")
        yield
