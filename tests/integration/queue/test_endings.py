"""An ending is written once, under its fence, with its reason: invariants 1, 3, 4 and 9."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conftest import QueueForTests, because
from tests.integration.queue.conftest import everything, sweep
from worker.drill import finish_ledger
from worker.errors import BadData, ClaimLost
from worker.models import Outcome, Status

WHY = because("the page was grey", last_error="Traceback: the page was grey")
ENDINGS = {
    "finish": lambda queue, claim: queue.complete(claim, {"late": True}),
    "retry": lambda queue, claim: queue.retry(claim, WHY, delay_seconds=9),
    "fail": lambda queue, claim: queue.fail(claim, WHY),
    "crash": lambda queue, claim: queue.crash(claim, WHY, delay_seconds=None),
    "hand_back": lambda queue, claim: queue.hand_back(claim, WHY),
}


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


@pytest.mark.parametrize("now", ["claimed by another", "pending again", "done", "in error"])
def test_an_outcome_under_an_old_fence_is_refused_and_writes_nothing(
    database, queue, stale_and_current, now
):
    stale, current = stale_and_current
    if now == "pending again":
        queue.hand_back(current, WHY)
    elif now == "done":
        queue.complete(current, {"good": True})
    elif now == "in error":
        queue.fail(current, WHY)
    before = everything(database)

    for end in ENDINGS.values():
        with pytest.raises(ClaimLost) as lost:
            end(queue, stale)
        assert (lost.value.job_id, lost.value.fence) == (stale.job_id, stale.fence)
        assert everything(database) == before


def test_a_late_worker_may_finish_what_nobody_has_taken_from_it(queue, claim_as, expire):
    queue.enqueue("visit", {})
    claim = claim_as()
    expire(claim)
    queue.complete(claim, {"late": "but mine"})
    assert queue.get(claim.job_id)["status"] == "done"


def test_of_two_outcomes_for_one_claim_exactly_one_is_written(queue, claim_as, connect):
    queue.enqueue_many("visit", [{}] * 20)
    claims = [claim_as() for _ in range(20)]
    queues = {"finish": QueueForTests(connect()), "fail": QueueForTests(connect())}

    def settle_all(ending):
        lost = 0
        for claim in claims:
            try:
                ENDINGS[ending](queues[ending], claim)
            except ClaimLost:
                lost += 1
        return lost

    with ThreadPoolExecutor(2) as pool:
        lost = sum(pool.map(settle_all, queues))

    assert lost == 20
    for claim in claims:
        (attempt,) = queue.history(claim.job_id)
        assert queue.get(claim.job_id)["status"] == attempt["outcome"]


def test_the_last_attempt_ends_as_an_error_with_the_reason(queue, claim_as):
    job_id = queue.enqueue("visit", {}, max_attempts=2)
    assert queue.retry(claim_as(), WHY, delay_seconds=None) is Status.PENDING
    assert queue.retry(claim_as(), WHY, delay_seconds=None) is Status.ERROR

    row = queue.get(job_id)
    assert (row["status"], row["attempts"], row["last_error"]) == ("error", 2, WHY["last_error"])
    assert row["finished_at"] is not None
    reasons = [attempt["reason"] for attempt in queue.history(job_id)]
    assert reasons == [WHY["reason"], "the page was grey (attempt 2 of 2, no more)"]
    assert claim_as() is None


def test_what_is_handed_back_costs_no_attempt(queue, claim_as):
    job_id = queue.enqueue("visit", {}, max_attempts=1)
    for _ in range(5):
        assert queue.hand_back(claim_as(), because("the run was stopped")) is Status.PENDING

    row = queue.get(job_id)
    assert (row["status"], row["attempts"], row["fence"]) == ("pending", 0, 5)
    assert [attempt["outcome"] for attempt in queue.history(job_id)] == ["handed_back"] * 5
    assert claim_as().attempt == 1


def test_a_job_that_killed_its_worker_twice_is_an_error(queue, claim_as):
    job_id = queue.enqueue("visit", {}, max_attempts=9)
    assert queue.crash(claim_as(), WHY, delay_seconds=None) is Status.PENDING
    assert queue.crash(claim_as(), WHY, delay_seconds=None) is Status.ERROR
    assert "killed its worker or browser 2 times" in queue.history(job_id)[-1]["reason"]


def test_an_outcome_without_its_history_is_not_written_at_all(database, queue, claim_as):
    queue.enqueue("visit", {})
    claim = claim_as()
    # A history that takes nothing: every row of it would be against this check.
    database.run_statement("ALTER TABLE job_attempts ADD CONSTRAINT is_full CHECK (attempt > 99)")
    before = everything(database)

    # A finish is its own record.
    for end in (end for name, end in ENDINGS.items() if name != "finish"):
        with pytest.raises(BadData):
            end(queue, claim)
        assert everything(database) == before
    assert before[0][0]["status"] == "in_progress"


def test_a_finish_is_kept_when_the_job_is_put_back_by_hand(database, queue, claim_as):
    job_id = queue.enqueue("visit", {})
    queue.complete(claim_as(), {"first": True})
    database.run_statement("UPDATE work_queue SET status = 'pending'")

    queue.fail(claim_as(), because("the second time"))

    assert [row["outcome"] for row in queue.history(job_id)] == ["done", "error"]


def test_history_of_a_truncated_table_does_not_stand_in_the_way(database, queue, claim_as):
    queue.enqueue("visit", {})
    queue.complete(claim_as(), {})
    database.run_statement("TRUNCATE TABLE work_queue")
    job_id = queue.enqueue("visit", {})

    queue.fail(claim_as(), because("another life"))

    assert [row["outcome"] for row in queue.history(job_id)] == ["error"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_claim_of_another_life_of_the_table_ends_nothing_although_fences_repeat(
    database, queue, claim_as, ending
):
    job_id = queue.enqueue("visit", {})
    former = claim_as()
    # A restored backup does the same.
    database.run_statement("TRUNCATE TABLE work_queue")
    assert queue.enqueue("visit", {}) == job_id
    current = claim_as()
    assert (current.job_id, current.fence) == (former.job_id, former.fence)

    with pytest.raises(ClaimLost):
        ENDINGS[ending](queue, former)
    held = (former.job_id, former.fence, former.incarnation)

    assert queue.renew([held]) == 0
    assert (queue.get(job_id)["status"], queue.history(job_id)) == ("in_progress", [])


def test_an_outcome_written_before_the_connection_broke_is_known_as_our_own(
    queue, claim_as, connect, lose_the_next_answer
):
    db = connect(patience_seconds=20)
    for ending in ("finish", "retry", "fail", "hand_back"):
        job_id = queue.enqueue("visit", {})
        claim = claim_as()
        lose_the_next_answer(db)

        ENDINGS[ending](QueueForTests(db), claim)

        assert len(queue.history(job_id)) == 1
        assert queue.get(job_id)["attempts"] == (0 if ending == "hand_back" else 1)


def test_the_same_outcome_twice_is_one_and_another_is_refused(database, queue, claim_as):
    queue.enqueue("visit", {})
    claim = claim_as()
    queue.complete(claim, {"first": True})
    before = everything(database)

    queue.complete(claim, {"second": True})
    with pytest.raises(ClaimLost):
        queue.fail(claim, WHY)

    assert everything(database) == before


def test_a_result_text_and_reason_in_any_script_come_back_as_they_were(queue, claim_as):
    text = "naïve 密码 🦉 \\ % ' \" \n end"
    job_id = queue.enqueue("visit", {"text": text})
    queue.retry(claim_as(), because(text, last_error=text), delay_seconds=None)
    assert queue.get(job_id)["last_error"] == queue.history(job_id)[0]["reason"] == text
    queue.complete(claim_as(), {"text": text})
    assert "\\ud83e\\udd89" in queue.get(job_id)["result"] or "🦉" in queue.get(job_id)["result"]
    assert queue.get(job_id)["last_error"] is None


def test_half_a_character_in_an_error_text_does_not_keep_the_job_from_being_settled(
    queue, claim_as
):
    job_id = queue.enqueue("visit", {})
    text = "no file caf\udce9 \ud800"
    why = because(text, last_error=text, last_step=text)
    assert queue.retry(claim_as(), why, delay_seconds=None) is Status.PENDING
    assert queue.history(job_id)[0]["reason"].startswith("no file caf")


def test_a_traceback_longer_than_its_column_keeps_head_and_tail(queue, claim_as):
    job_id = queue.enqueue("visit", {})
    why = because("r" * 9999, last_error="first line " + "🦉" * 50_000 + " last line")
    queue.fail(claim_as(), why)
    last_error = queue.get(job_id)["last_error"]
    assert last_error.startswith("first line ")
    assert last_error.endswith(" last line")
    assert queue.history(job_id)[0]["reason"] == "r" * 500


def walk(database, queue, claim_as, expire, chance):
    """Do one random thing to the queue; return how many jobs it added."""
    held = database.run_statement("SELECT id FROM work_queue WHERE status = 'in_progress'")
    if chance.random() < 0.2:
        return queue.enqueue_many("visit", [{}] * chance.randint(1, 3))
    if chance.random() < 0.15 or not held:
        queue.promote()
        sweep(database, queue)
    claim = claim_as(chance.randrange(3), 3)
    if claim is None:
        return 0
    if chance.random() < 0.2:
        expire(claim)
        return 0
    for ending in chance.choices(list(ENDINGS), k=chance.randint(0, 2)):
        try:
            ENDINGS[ending](queue, claim)
        except ClaimLost:
            continue
    return 0


def test_no_job_is_ever_lost_or_finished_twice(database, queue, claim_as, expire):
    finish_ledger.install(database)
    chance, added = random.Random(20240607), 0
    for _ in range(300):
        added += walk(database, queue, claim_as, expire, chance)
        assert sum(queue.counts().values()) == added

    jobs, attempts = everything(database)
    claimed = sum(job["status"] in ("in_progress", "done") for job in jobs)
    assert sum(job["fence"] for job in jobs) == len(attempts) + claimed
    done = [job["id"] for job in jobs if job["status"] == "done"]
    assert finish_ledger.finishes(database) == dict.fromkeys(done, 1)
    spent = [a["job_id"] for a in attempts if a["outcome"] != Outcome.HANDED_BACK]
    for job in jobs:
        is_claimed = job["status"] in ("in_progress", "done")
        assert job["attempts"] == spent.count(job["id"]) + is_claimed


def test_no_table_gets_a_secret_of_the_payload_whoever_settles(database, queue, claim_as):
    queue.enqueue("visit", {"password": "a white horse", "url": "http://me:hunter2@h.test/"})
    said = "a%20white%20horse at http://me:hunter2@h.test/"
    why = because(said, last_error=said, label=said, last_step=said, fingerprint="f" * 16)
    queue.retry(claim_as(), why, delay_seconds=0)

    tables = ("work_queue", "job_attempts", "failure_groups", "outbox")
    rows = [row for name in tables for row in database.run_statement(f"SELECT * FROM {name}")]
    told = [{key: value for key, value in row.items() if key != "payload"} for row in rows]
    assert not [word for word in ("horse", "hunter2") if word in repr(told)]
    assert repr(told).count("[redacted] at http://[redacted]@h.test/") >= 5
