"""What a dead worker held is settled by the cause of its death: invariants 3 and 4."""

from __future__ import annotations

from tests.integration.queue.conftest import everything
from worker.models import Ending, Outcome, Status
from worker.recovery.deaths import Swept, settle_claims


def settle(database, queue, incarnation: int, ending: Ending):
    """Settle what a dead worker held, all of which it had begun."""
    began = database.fetch_all("claims_of_incarnation", incarnation=incarnation)
    job, fence = (began[0]["id"], began[0]["fence"]) if began else (0, 0)
    return settle_claims(database, queue, incarnation, ending, began=(job, fence))


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
