"""A claim: one holder, counted at once, timed by the database: invariants 2, 3 and 7."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest

from tests.conftest import QueueForTests, hold
from tests.integration.queue.conftest import everything
from worker.claiming.candidates import Candidates
from worker.errors import BadData, DuplicateKey
from worker.models import Owner, Partition


def test_a_bare_insert_is_a_complete_job(database, claim_as):
    database.run_statement("""INSERT INTO work_queue (payload) VALUES ('{"url": "about:blank"}')""")

    claim = claim_as()

    assert (claim.task, claim.payload, claim.attempt) == ("visit", '{"url": "about:blank"}', 1)


def test_a_claim_under_an_old_fence_is_not_renewed(database, queue, stale_and_current):
    stale, current = stale_and_current
    before = everything(database)

    assert queue.renew([hold(stale)]) == 0

    assert everything(database) == before
    assert queue.renew([hold(stale), hold(current)]) == 1


def test_a_finished_job_is_not_renewed(queue, claim_as):
    queue.enqueue("visit", {})
    claim = claim_as()
    queue.complete(claim, None)
    assert queue.renew([hold(claim)]) == 0
    assert queue.get(claim.job_id)["lease_until"] is None


def test_racing_workers_never_hold_the_same_job(queue, connect):
    queue.enqueue_many("visit", [{"number": number} for number in range(300)])
    start = threading.Barrier(8)

    def claim_all(incarnation):
        db = connect()
        candidates, owner = Candidates(db, Partition(0, 1)), Owner(0, incarnation)
        start.wait(timeout=20)
        return list(iter(lambda: QueueForTests(db).claim(owner, candidates), None))

    with ThreadPoolExecutor(8) as pool:
        held = [claim for claims in pool.map(claim_all, range(1, 9)) for claim in claims]

    assert sorted(claim.job_id for claim in held) == list(range(1, 301))
    assert {claim.fence for claim in held} == {1}


def test_an_attempt_is_counted_when_the_job_is_claimed(queue, claim_as):
    job_id = queue.enqueue("visit", {})
    claim = claim_as(slot=3, total=4, incarnation=77)
    row = queue.get(job_id)
    assert (row["status"], row["attempts"], row["fence"]) == ("in_progress", 1, 1)
    assert (row["worker_id"], row["incarnation"], claim.attempt) == (3, 77, 1)


def test_a_job_without_a_cap_has_that_of_the_run_or_of_its_task(database, claim_as):
    queue = QueueForTests(database, max_attempts=3, task_caps={"order": 1})
    for task, cap in (("visit", None), ("visit", 9), ("order", None), ("order", 9)):
        queue.enqueue(task, {}, max_attempts=cap)
    candidates = Candidates(database, Partition(0, 1))
    claims = [queue.claim(Owner(0, number), candidates) for number in range(4)]

    assert [claim.max_attempts for claim in claims] == [3, 9, 1, 9]
    # A sweep knows no tasks: their caps are in the rows.
    caps = [queue.get(claim.job_id)["max_attempts"] for claim in claims]
    assert caps == [None, 9, 1, 9]


def test_a_job_that_was_changed_after_it_was_seen_is_claimed_as_it_is_now(
    database, queue, eventually
):
    queue.enqueue("visit", {"url": "http://old"})
    candidates = Candidates(database, Partition(0, 1))
    assert candidates.has_next()
    database.run_statement("""UPDATE work_queue SET payload = '{"url": "http://new"}'""")

    claim = eventually(lambda: queue.claim(Owner(0, 1), candidates))
    assert claim.payload == '{"url": "http://new"}'


def test_a_claim_made_before_the_connection_broke_is_found_again(
    queue, connect, lose_the_next_answer
):
    job_id = queue.enqueue("visit", {})
    db = connect(patience_seconds=20)
    candidates = Candidates(db, Partition(0, 1))
    assert candidates.has_next()
    lose_the_next_answer(db)

    claim = QueueForTests(db).claim(Owner(0, 5), candidates)

    assert (claim.job_id, claim.fence, claim.attempt) == (job_id, 1, 1)
    assert queue.get(job_id)["attempts"] == 1


def test_times_are_the_databases_and_the_lease_is_counted_from_the_claim(database, claim_as):
    # The session's own clock is set far away: whatever shows another year came from elsewhere.
    database.run_statement("SET timestamp = 1000000000.5")
    queue = QueueForTests(database, lease_seconds=12.5)
    job_id = queue.enqueue("visit", {}, delay_seconds=0)
    assert queue.promote() == 1
    claim = queue.claim(Owner(0, 1), Candidates(database, Partition(0, 1)))
    row = queue.get(job_id)
    assert row["created_at"] == row["started_at"] == datetime(2001, 9, 9, 1, 46, 40, 500_000)  # noqa: DTZ001
    assert (row["lease_until"] - row["started_at"]).total_seconds() == 12.5

    database.run_statement("SET timestamp = 1000000007")
    assert queue.renew([hold(claim)]) == 1
    assert (queue.get(job_id)["lease_until"] - row["started_at"]).total_seconds() == 19
    queue.complete(claim, None)

    assert (queue.get(job_id)["finished_at"] - row["started_at"]).total_seconds() == 6.5
    assert queue.history(job_id)[0]["finished_at"] == queue.get(job_id)["finished_at"]


def test_a_taken_dedupe_key_is_refused_by_name(queue):
    queue.enqueue("visit", {}, dedupe_key="order 7")
    with pytest.raises(DuplicateKey, match="order 7"):
        queue.enqueue("visit", {}, dedupe_key="order 7")
    assert queue.counts()["pending"] == 1


def test_many_jobs_are_added_all_or_none(queue):
    with pytest.raises(BadData):
        queue.enqueue_many("visit", [*[{"text": "x" * 100}] * 20_000, float("nan")])
    assert queue.counts() == {"pending": 0, "in_progress": 0, "done": 0, "error": 0}
    assert queue.enqueue_many("visit", [{}] * 3) == 3
    assert queue.enqueue_many("visit", []) == 0
