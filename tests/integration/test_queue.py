"""A job's life in the queue: invariants 1 to 4 and 9 of the design, on a real server."""

from __future__ import annotations

import pytest

from worker.errors import ClaimLost
from worker.models import Explanation, Outcome, Status
from worker.queue import Queue
from worker.sweep import sweep


def test_a_bare_insert_is_a_complete_job(database, claim_as):
    database.run_statement("""INSERT INTO work_queue (payload) VALUES ('{"url": "about:blank"}')""")

    claim = claim_as()

    assert (claim.task, claim.payload, claim.attempt) == ("visit", '{"url": "about:blank"}', 1)


def test_a_stale_worker_cannot_finish_a_reclaimed_job(database, queue, claim_as, expire):
    job_id = queue.enqueue("visit", {"url": "about:blank"})
    stale = claim_as()
    expire(stale)
    sweep(database, queue)
    current = claim_as()

    with pytest.raises(ClaimLost):
        queue.complete(stale, result={})

    assert queue.get(job_id)["fence"] == current.fence
    assert queue.get(job_id)["status"] == "in_progress"
