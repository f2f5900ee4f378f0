"""Two claims of one job, rows that somebody holds, a server that lags, and all of the tables."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from functools import partial

import pytest

from worker.database.client import Database
from worker.recovery.sweep import sweep as patient_sweep

# The tests' server is young, and its grace for living owners is tested apart.
sweep = partial(patient_sweep, server_grace_seconds=0)
LAG_SECONDS = 0.6
NOT_YET = (
    "UPDATE work_queue SET status = 'pending', fence = fence - 1, attempts = attempts - 1, "
    "incarnation = NULL, lease_until = NULL, started_at = NULL"
)


@pytest.fixture
def stale_and_current(database, queue, claim_as, expire):
    """Two claims of one job: the first was swept away, the second holds it."""
    queue.enqueue("visit", {"url": "about:blank"})
    stale = claim_as()
    expire(stale)
    sweep(database, queue)
    return stale, claim_as()


def everything(database):
    return (
        database.run_statement("SELECT * FROM work_queue ORDER BY id"),
        database.run_statement("SELECT * FROM job_attempts ORDER BY job_id, fence"),
    )


@pytest.fixture
def impatient(settings):
    """A connection that waits for a row no longer than a second at a time."""
    with closing(Database(settings, lock_wait_seconds=1)) as db:
        yield db


@pytest.fixture
def holding(settings):
    """Hold the row of a job in a transaction of somebody else's, until the test ends."""
    with closing(Database(settings)) as other:

        def hold_row(job_id: int) -> None:
            other.run_statement("BEGIN")
            other.run_statement(f"SELECT id FROM work_queue WHERE id = {job_id} FOR UPDATE")

        yield hold_row


@pytest.fixture
def unapplied(database, queue, claim_as):
    """A claim that another member has committed, and this one has not got yet."""
    queue.enqueue("visit", {})
    claim = claim_as()
    database.run_statement(NOT_YET)
    return claim


@pytest.fixture
def apply_late(connect, unapplied):
    """Have this member apply the claim in a moment."""
    db = connect()

    def apply() -> None:
        time.sleep(LAG_SECONDS)
        db.run_statement(
            "UPDATE work_queue SET status = 'in_progress', fence = %(fence)s, attempts = 1, "
            "incarnation = %(incarnation)s, started_at = UTC_TIMESTAMP(6), "
            "lease_until = UTC_TIMESTAMP(6) + INTERVAL 60 SECOND",
            {"fence": unapplied.fence, "incarnation": unapplied.incarnation},
        )

    thread = threading.Thread(target=apply)
    thread.start()
    yield
    thread.join()
