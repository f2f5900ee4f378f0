"""Since when a job could have been claimed is known of every attempt, and no claim writes it."""

from __future__ import annotations

import pytest

from tests.conftest import because
from worker.models import Outcome


@pytest.fixture
def wait_of(database):
    """Read from which moment the wait of a job's current or last claim began, and its row."""

    def wait_of(job):
        (row,) = database.run_statement(
            "SELECT *, COALESCE(ready_at, created_at) AS ready FROM work_queue WHERE id = %(id)s",
            {"id": job},
        )
        return row["ready"], row

    return wait_of


def test_a_new_job_is_ready_since_it_was_added_and_claim_and_finish_write_nothing_of_it(
    queue, claim_as, wait_of
):
    job = queue.enqueue("visit", {})
    queue.complete(claim_as(), {})

    ready, row = wait_of(job)

    assert row["ready_at"] is None
    assert ready == row["created_at"] <= row["started_at"]


def test_a_job_that_waited_for_its_time_is_ready_since_then(database, queue, claim_as, wait_of):
    job = queue.enqueue("visit", {}, delay_seconds=100)
    database.run_statement("UPDATE work_queue SET created_at = created_at - INTERVAL 1 DAY")
    (due,) = database.run_statement(
        "SELECT UTC_TIMESTAMP(6) - INTERVAL 2 SECOND AS moment FROM work_queue"
    )
    database.run_statement("UPDATE work_queue SET not_before = %(moment)s", due)
    assert queue.promote() == 1
    queue.complete(claim_as(), {})

    assert wait_of(job)[0] == due["moment"]


def test_a_time_before_the_job_was_added_is_no_wait(database, queue, wait_of):
    job = queue.enqueue("visit", {}, delay_seconds=-1000)
    assert queue.promote() == 1

    ready, row = wait_of(job)

    assert ready == row["created_at"]


def test_a_job_that_comes_back_at_once_is_ready_since_then_and_its_attempt_keeps_its_own_wait(
    queue, claim_as, wait_of
):
    job = queue.enqueue("visit", {})
    queue.hand_back(claim_as(), because("stopped"))

    (attempt,) = queue._db.run_statement("SELECT * FROM job_attempts")
    ready, row = wait_of(job)
    assert attempt["ready_at"] == row["created_at"]
    assert ready >= attempt["started_at"]


def test_a_job_that_is_retried_by_hand_is_ready_since_then(database, queue, claim_as, wait_of):
    job = queue.enqueue("visit", {})
    queue.fail(claim_as(), because("HTTP 404"))
    (now,) = database.fetch_all("database_time")
    database.execute("retry_dead_letters", ids=(job,), half_done=False, until=now["now"])

    ready, row = wait_of(job)

    assert row["status"] == "pending"
    assert ready >= now["now"]


@pytest.mark.parametrize(
    ("outcome", "cap", "has_ended"),
    [
        (Outcome.ERROR, 4, True),
        (Outcome.RETRY, 4, False),
        (Outcome.RETRY, 1, True),
        (Outcome.TIMED_OUT, 1, True),
        (Outcome.HANDED_BACK, 1, False),
    ],
)
def test_an_attempt_tells_whether_its_job_failed_with_it_for_good(
    database, queue, claim_as, outcome, cap, has_ended
):
    queue.enqueue("visit", {}, max_attempts=cap)
    queue.retry(claim_as(), because("as it was"), delay_seconds=None, outcome=outcome)

    (attempt,) = database.run_statement("SELECT has_ended_job FROM job_attempts")

    assert bool(attempt["has_ended_job"]) == has_ended
