"""Jobs without an owner go back, and only those: invariant 5, and the cap of invariant 3."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from tests.conftest import QueueForTests, because, hold
from worker.models import Ending, Outcome, Status
from worker.recovery import sweep as sweeping
from worker.recovery.deaths import Swept, settle_claims

WHY = because("the page was grey")

# The tests' server is young, and its grace for living owners is tested apart.
sweep = partial(sweeping.sweep, server_grace_seconds=0)


def settle(database, queue, incarnation: int, ending: Ending):
    """Settle what a dead worker held, all of which it had begun."""
    began = database.fetch_all("claims_of_incarnation", incarnation=incarnation)
    job, fence = (began[0]["id"], began[0]["fence"]) if began else (0, 0)
    return settle_claims(database, queue, incarnation, ending, began=(job, fence))


def everything(database):
    return (
        database.run_statement("SELECT * FROM work_queue ORDER BY id"),
        database.run_statement("SELECT * FROM job_attempts ORDER BY job_id, fence"),
    )


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


def test_the_job_of_a_dead_worker_goes_back_at_once_with_the_cause(database, queue, claim_as):
    job_id = queue.enqueue("visit", {})
    claim_as(slot=2, incarnation=50)

    settled = settle(database, queue, 50, Ending(Outcome.CRASHED, "killed by SIGKILL"))

    reason = "worker 2 died: killed by SIGKILL"
    assert settled == [Swept(job_id, Status.PENDING, reason)]
    row, (attempt,) = queue.get(job_id), queue.history(job_id)
    assert (row["status"], row["attempts"], row["not_before"]) == ("pending", 1, None)
    assert (attempt["outcome"], attempt["reason"]) == ("crashed", reason)
    assert (attempt["worker_id"], attempt["incarnation"]) == (2, 50)
    assert claim_as().job_id == job_id


def test_a_job_that_killed_two_workers_is_an_error(database, queue, claim_as):
    job_id = queue.enqueue("visit", {}, max_attempts=9)
    for incarnation in (50, 51):
        claim_as(incarnation=incarnation)
        settle(database, queue, incarnation, Ending(Outcome.CRASHED, "out of memory"))

    row = queue.get(job_id)
    assert (row["status"], row["attempts"]) == ("error", 2)
    assert "killed its worker or browser 2 times" in row["last_error"]
    assert "out of memory" in row["last_error"]


def test_a_job_of_a_worker_killed_at_its_deadline_has_spent_an_attempt(database, queue, claim_as):
    job_id = queue.enqueue("visit", {}, max_attempts=1)
    claim_as(incarnation=50)
    (item,) = settle(database, queue, 50, Ending(Outcome.TIMED_OUT, "killed at its deadline"))
    assert item.status is Status.ERROR
    assert queue.history(job_id)[0]["outcome"] == "timed_out"


def test_the_job_of_a_worker_that_we_stopped_costs_no_attempt(database, queue, claim_as):
    job_id = queue.enqueue("visit", {}, max_attempts=1)
    claim_as(incarnation=50)
    settle(database, queue, 50, Ending(Outcome.HANDED_BACK, "the run was stopped"))
    row, (attempt,) = queue.get(job_id), queue.history(job_id)
    assert (row["status"], row["attempts"]) == ("pending", 0)
    assert (attempt["outcome"], attempt["reason"]) == ("handed_back", "the run was stopped")


def test_only_what_the_dead_incarnation_still_held_is_settled(database, queue, claim_as):
    queue.enqueue_many("visit", [{}] * 3)
    finished = claim_as(slot=1, incarnation=50)
    queue.complete(finished, None)
    neighbour, successor = claim_as(slot=0, incarnation=49), claim_as(slot=1, incarnation=51)
    before = everything(database)

    assert settle(database, queue, 50, Ending(Outcome.CRASHED, "killed")) == []

    assert everything(database) == before
    for claim in (neighbour, successor):
        queue.complete(claim, None)


def test_a_claim_that_its_worker_never_began_costs_no_attempt(database, queue, claim_as):
    job_id = queue.enqueue("visit", {}, max_attempts=1)
    claim_as(slot=2, incarnation=50)

    ending = Ending(Outcome.CRASHED, "killed by SIGKILL")
    settle_claims(database, queue, 50, ending, began=(0, 0))

    row, (attempt,) = queue.get(job_id), queue.history(job_id)
    assert (row["status"], row["attempts"]) == ("pending", 0)
    assert attempt["reason"] == (
        "handed back: its worker died before the job began: killed by SIGKILL"
    )


def test_a_job_that_hung_waits_before_it_is_tried_again(database, queue, claim_as):
    job_id = queue.enqueue("visit", {})
    claim_as(incarnation=50)

    settle(database, queue, 50, Ending(Outcome.TIMED_OUT, "stuck in a page"))

    assert queue.get(job_id)["not_before"] is not None


def test_nothing_has_expired_for_one_whom_the_database_has_only_just_answered_again(
    database, queue, claim_as, expire
):
    queue.enqueue("visit", {})
    expire(claim_as())
    # Up for longer than its grace of no time at all, but away from us until a moment ago.
    patient = partial(sweeping.sweep, database, queue, server_grace_seconds=0.5)

    assert patient(answering_seconds=0.0) == []
    assert len(patient(answering_seconds=60.0)) == 1
