"""The gate leaves what it refuses as it was, and holds up nothing that it has not to check."""

from __future__ import annotations

from contextlib import closing

from tests.integration.gate_worker import OTHER
from worker.database.client import Database
from worker.guards import limits


def test_a_refused_job_is_left_as_it_was(database, queue, worker):
    limits.set_limit(database, "site:other.example", concurrent=0, per_minute=None, by="me")
    job_id = queue.enqueue("visit", {"url": OTHER})
    before = queue.get(job_id)

    assert worker.claim() is None

    assert queue.get(job_id) == before
    assert queue.history(job_id) == []


def test_a_claim_beside_a_limit_costs_no_lock_for_others(database, queue, worker):
    """A job that no limit concerns is claimed even while the limit's row is locked."""
    limits.set_limit(database, "site:shop.example", concurrent=1, per_minute=None, by="me")
    queue.enqueue("visit", {"url": OTHER})
    with closing(Database(database.settings)) as holder:
        held = holder.transaction(
            lambda tx: (tx.fetch_all("lock_limits", names=("site:shop.example",)), worker.claim())
        )
    assert held[1] is not None
