"""A write that matched no row: was what it needs lost, or does the server lag behind?

The one place that decides it. A fence that is lower than ours proves a server that has not got our
own earlier write yet: it is waited for. Only what has moved on, or is missing from a server that
has caught up, is lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum, auto

from worker.database.client import Database
from worker.database.server_errors import Trouble
from worker.errors import StaleServer

# A server of no known cluster cannot be asked to catch up. After this long it will not: its data
# were restored, or a failover has lost what we wrote.
STALE_SECONDS = 30.0
# A row that is ours and still takes no write is guarded by something else.
WRITES = 3


class Standing(Enum):
    """How a row stands that should be ours, as one server shows it."""

    # It is ours: what was to be written can be.
    HELD = auto()
    # It has moved on: another has it, or it was ended.
    LOST = auto()
    # It is as it was before it was ours: this server has not got that yet.
    BEHIND = auto()
    # It is not there: removed, or not there yet.
    MISSING = auto()


def prevails(
    db: Database,
    write: Callable[[], bool],
    look: Callable[[], Standing],
    *,
    stale_seconds: float = STALE_SECONDS,
) -> bool:
    """Write what is ours; return False once it is certain that it is lost.

    Raises StaleServer when the server has not caught up within the patience.
    """
    if write():
        return True
    began, writes = time.monotonic(), 1
    retries = db.retries(began)
    while True:
        standing = look()
        if standing is Standing.MISSING and not db.is_cluster:
            return False
        if standing in (Standing.BEHIND, Standing.MISSING):
            if db.catch_up():
                standing = look()
            elif time.monotonic() - began < stale_seconds:
                _wait(db, retries.pause_after(Trouble.BUSY))
                continue
        if standing is not Standing.HELD or writes >= WRITES:
            return False
        writes += 1
        if write():
            return True


def by_fence(found: int, ours: int, *, is_ours: bool) -> Standing:
    """Judge by the fence that a server shows, and by whether the row is ours at that fence."""
    if found < ours:
        return Standing.BEHIND
    return Standing.HELD if found == ours and is_ours else Standing.LOST


def _wait(db: Database, pause: float | None) -> None:
    if pause is None:
        raise StaleServer(
            f"database {db.settings} lags behind: it has not got what we wrote before; "
            f"check its replication"
        )
    time.sleep(pause)
