"""Jobs without an owner go back, and only those: invariant 5, and the cap of invariant 3."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from tests.conftest import QueueForTests, because, hold
from tests.integration.queue.conftest import everything
from worker.models import Status
from worker.recovery import sweep as sweeping

WHY = because("the page was grey")

# The tests' server is young, and its grace for living owners is tested apart.
sweep = partial(sweeping.sweep, server_grace_seconds=0)


def test_only_a_claim_that_outlived_its_lease_is_swept(database, queue, claim_as, expire):
    queue.enqueue_many("visit", [{}] * 4)
    finished, alive, gone = (claim_as(slot) for slot in (0, 1, 2))
    queue.complete(finished, None)
    expire(gone)

    (told,) = sweep(database, queue, dry_run=True)
    (swept,) = sweep(database, queue)

    assert told.job_id == swept.job_id
    assert (swept.job_id, swept.status) == (gone.job_id, Status.PENDING)
    assert "worker 2 vanished" in swept.reason
    row = queue.get(gone.job_id)
    assert (row["status"], row["attempts"], row["not_before"]) == ("pending", 1, None)
    assert [item["outcome"] for item in queue.history(gone.job_id)] == ["swept"]
    assert queue.get(alive.job_id)["status"] == "in_progress"
    assert queue.counts() == {"pending": 2, "in_progress": 1, "done": 1, "error": 0}
    assert sweep(database, queue) == []


def test_a_swept_job_is_claimed_again_at_once(database, queue, claim_as, expire):
    queue.enqueue("visit", {})
    expire(claim_as())
    sweep(database, queue)
    again = claim_as()
    assert (again.attempt, again.fence) == (2, 2)


def test_a_long_job_is_left_alone_while_its_claim_is_renewed(database, queue, claim_as, expire):
    queue.enqueue("visit", {})
    claim = claim_as()
    expire(claim)
    assert queue.renew([hold(claim)]) == 1
    assert sweep(database, queue) == []
    queue.complete(claim, None)
    assert queue.get(claim.job_id)["status"] == "done"


def test_a_claim_renewed_between_look_and_sweep_is_left_alone(
    database, queue, claim_as, expire, monkeypatch
):
    queue.enqueue("visit", {})
    claim = claim_as()
    expire(claim)
    look = database.fetch_all

    def look_and_be_overtaken(name, /, **params):
        rows = look(name, **params)
        if name == "expired_claims":
            assert queue.renew([hold(claim)]) == len(rows) == 1
        return rows

    monkeypatch.setattr(database, "fetch_all", look_and_be_overtaken)

    assert sweep(database, queue) == []
    assert queue.get(claim.job_id)["status"] == "in_progress"
    assert queue.history(claim.job_id) == []


def test_a_dry_run_tells_the_same_and_changes_nothing(database, queue, claim_as, expire):
    queue.enqueue("visit", {}, max_attempts=1)
    queue.enqueue("visit", {})
    for claim in (claim_as(), claim_as()):
        expire(claim)
    before = everything(database)

    told = sweep(database, queue, dry_run=True)

    assert everything(database) == before
    done = [(item.job_id, item.status) for item in sweep(database, queue)]
    assert [(item.job_id, item.status) for item in told] == done
    assert done == [(1, Status.ERROR), (2, Status.PENDING)]


def test_a_dry_run_tells_of_more_jobs_than_are_swept_at_once(
    database, queue, claim_as, expire, monkeypatch
):
    monkeypatch.setattr(sweeping, "SWEEP_AT_ONCE", 3)
    queue.enqueue_many("visit", [{}] * 8)
    for _ in range(8):
        expire(claim_as())
    assert [item.job_id for item in sweep(database, queue, dry_run=True)] == list(range(1, 9))
    assert [item.job_id for item in sweep(database, queue)] == list(range(1, 9))


def test_a_job_swept_at_its_cap_is_an_error_with_the_reason(database, queue, claim_as, expire):
    job_id = queue.enqueue("visit", {}, max_attempts=2)
    for _ in range(2):
        expire(claim_as(slot=4))
        sweep(database, queue)

    row = queue.get(job_id)
    assert (row["status"], row["attempts"]) == ("error", 2)
    assert row["last_error"].startswith("worker 4 vanished: its claim was not renewed")
    assert row["last_error"].endswith("(attempt 2 of 2, no more)")
    assert queue.history(job_id)[-1]["reason"] == row["last_error"]


def test_a_job_without_a_cap_is_swept_to_error_at_that_of_the_run(database, claim_as, expire):
    strict = QueueForTests(database, max_attempts=1)
    strict.enqueue("visit", {})
    expire(claim_as())
    assert [item.status for item in sweep(database, strict)] == [Status.ERROR]


def test_sweeps_that_run_at_once_sweep_each_job_once(queue, claim_as, expire, connect):
    queue.enqueue_many("visit", [{}] * 40)
    for _ in range(40):
        expire(claim_as())
    start = threading.Barrier(3)

    def sweep_all(_):
        db = connect()
        db.ping()
        start.wait(timeout=20)
        return sweep(db, QueueForTests(db))

    with ThreadPoolExecutor(3) as pool:
        swept = [item.job_id for items in pool.map(sweep_all, range(3)) for item in items]

    assert queue.counts()["pending"] == 40
    assert all(len(queue.history(job_id)) == 1 for job_id in range(1, 41))
    # Each is told of by the one sweep that did it, so that the sum of what they tell is true.
    assert sorted(swept) == list(range(1, 41))


def test_nothing_has_expired_for_one_whom_the_database_has_only_just_answered_again(
    database, queue, claim_as, expire
):
    queue.enqueue("visit", {})
    expire(claim_as())
    # Up for longer than its grace of no time at all, but away from us until a moment ago.
    patient = partial(sweeping.sweep, database, queue, server_grace_seconds=0.5)

    assert patient(answering_seconds=0.0) == []
    assert len(patient(answering_seconds=60.0)) == 1


def test_a_claim_written_by_hand_without_an_owner_or_a_start_is_swept(database, queue):
    database.run_statement(
        "INSERT INTO work_queue (payload, status, lease_until) "
        "VALUES ('{}', 'in_progress', '1990-01-01')"
    )

    (swept,) = sweep(database, queue)

    assert (swept.status, queue.get(swept.job_id)["status"]) == (Status.PENDING, "pending")
    assert sweep(database, queue) == []
