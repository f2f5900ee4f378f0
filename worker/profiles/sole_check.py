"""Let only one process at a time check a profile.

It is a named lock of the database, which ends with its connection: a dead process keeps none.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from worker.database.client import Database
from worker.errors import UsageError


@contextmanager
def sole_check(db: Database, profile_id: str) -> Iterator[bool]:
    """Be the only one who checks a profile; False when another does."""
    if not db.fetch_all("lock_check", id=profile_id)[0]["locked"]:
        yield False
        return
    try:
        yield True
    finally:
        db.fetch_all("unlock_check", id=profile_id)


@contextmanager
def unchecked(db: Database, profile_id: str) -> Iterator[None]:
    """Let nobody check a profile meanwhile: a check stops whatever runs in it.

    Raises UsageError when somebody checks it at this moment.
    """
    with sole_check(db, profile_id) as is_ours:
        if not is_ours:
            raise UsageError(f"profile {profile_id} is being checked right now; try again")
        yield
