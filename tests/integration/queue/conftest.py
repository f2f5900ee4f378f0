"""Two claims of one job, and everything the queue's tables hold."""

from __future__ import annotations

from functools import partial

import pytest

from worker.recovery.sweep import sweep as patient_sweep

# The tests' server is young, and its grace for living owners is tested apart.
sweep = partial(patient_sweep, server_grace_seconds=0)


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
