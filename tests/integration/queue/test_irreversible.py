"""An irreversible step in a job's row: under the fence, and never forgotten: invariant 14."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.integration.queue.conftest import everything, sweep
from worker.errors import BadData, ClaimLost, StepTaken
from worker.models import Candidate, Cause, Ending, Outcome, Owner
from worker.queue import irreversible

STEP = "submitting order"


@pytest.fixture
def claim(queue, claim_as):
    queue.enqueue("order", {}, max_attempts=9)
    return claim_as()


def step_of(queue, job_id: int) -> str | None:
    return queue.get(job_id)["irreversible_step"]


def taken_of(queue, job_id: int) -> list[str]:
    return irreversible.taken(queue.get(job_id)["taken_steps"])


def test_a_step_is_kept_until_the_next_one_and_may_be_kept_twice(database, queue, claim):
    irreversible.begin(database, claim, STEP)
    irreversible.begin(database, claim, STEP)
    assert step_of(queue, claim.job_id) == STEP

    irreversible.begin(database, claim, "paying")
    assert step_of(queue, claim.job_id) == "paying"

    irreversible.end(database, claim, "paying")
    assert step_of(queue, claim.job_id) is None
    # One that another follows at once was taken too.
    assert taken_of(queue, claim.job_id) == [STEP, "paying"]


@pytest.fixture
def next_claim(queue, claim, claim_as):
    """Let a claim's job be tried again, and claim it."""

    def next_claim(outcome: Outcome = Outcome.RETRY):
        queue.end(claim, Ending(outcome, "it broke off later", delay_seconds=0))
        queue.promote()
        return claim_as()

    return next_claim


@pytest.mark.parametrize("outcome", [Outcome.RETRY, Outcome.HANDED_BACK, Outcome.CRASHED])
def test_what_an_earlier_attempt_has_taken_is_not_begun(
    database, queue, claim, next_claim, outcome
):
    for step in (STEP, "paying", STEP):
        irreversible.begin(database, claim, step, is_own=True)
        irreversible.end(database, claim, step)
    later = next_claim(outcome)
    before = everything(database)

    for step in (STEP, "paying"):
        with pytest.raises(StepTaken, match=f"'{step}' was taken in an earlier attempt"):
            irreversible.begin(database, later, step)

    assert everything(database) == before
    assert taken_of(queue, later.job_id) == [STEP, "paying"]
    irreversible.begin(database, later, STEP.upper())
    assert step_of(queue, later.job_id) == STEP.upper()


def test_what_came_to_nothing_may_be_begun_again(database, queue, claim, next_claim):
    irreversible.begin(database, claim, STEP)
    irreversible.forget(database, claim)

    later = next_claim()
    irreversible.begin(database, later, STEP)

    assert (step_of(queue, later.job_id), taken_of(queue, later.job_id)) == (STEP, [])


def test_steps_of_several_lines_and_of_any_letters_are_told_apart(database, claim, next_claim):
    for step in ("order\n\U0001f6d2 50%_'", "a\nb"):
        irreversible.begin(database, claim, step)
        irreversible.end(database, claim, step)
    later = next_claim()

    for step in ("order\n\U0001f6d2 50%_'", "a b"):
        with pytest.raises(StepTaken):
            irreversible.begin(database, later, step)
    for step in ("a", "b", "order"):
        irreversible.begin(database, later, step)


def test_a_step_of_any_length_and_of_half_characters_is_kept(database, queue, claim):
    irreversible.begin(database, claim, "order \ud800 \U0001f6d2 " + "x" * 300)

    assert step_of(queue, claim.job_id).startswith("order ? \U0001f6d2 xx")


def test_under_an_old_fence_nothing_is_begun_and_nothing_written(database, stale_and_current):
    stale, _ = stale_and_current
    before = everything(database)

    with pytest.raises(ClaimLost):
        irreversible.begin(database, stale, STEP)
    irreversible.end(database, stale, STEP)
    irreversible.forget(database, stale)

    assert everything(database) == before


@pytest.mark.parametrize("outcome", [each for each in Outcome if each is not Outcome.DONE])
def test_no_outcome_and_no_budget_leads_back(database, queue, claim, outcome):
    irreversible.begin(database, claim, STEP)
    ending = Ending(outcome, "it broke off", max_blocks=9, irreversible_step=STEP)

    settlement = queue.end(claim, ending)

    row, attempt = queue.get(claim.job_id), queue.history(claim.job_id)[-1]
    assert settlement.status == row["status"] == "error"
    assert (row["irreversible_step"], row["attempts"]) == (STEP, 1)
    assert attempt["reason"] == f"may be half done at '{STEP}': it broke off"
    assert attempt["outcome"] != "handed_back"
    assert attempt["last_step"] == STEP


def test_a_canary_that_breaks_off_is_half_done_too(database, queue, claim):
    canary = replace(claim, canary="site:a.example")

    queue.end(canary, Ending(Outcome.RETRY, "down", Cause.SITE, irreversible_step=STEP))

    assert queue.get(claim.job_id)["status"] == "error"


def test_a_finish_forgets_the_step(database, queue, claim, claim_as):
    irreversible.begin(database, claim, STEP)
    queue.end(claim, Ending(Outcome.DONE, result="1", irreversible_step=STEP))
    assert (queue.get(claim.job_id)["status"], step_of(queue, claim.job_id)) == ("done", None)


def test_so_does_a_finish_that_takes_the_next_job(database, queue, claim):
    irreversible.begin(database, claim, STEP)
    following = queue.enqueue("order", {})
    row = queue.get(following)
    candidate = Candidate(following, str(row["changed_at"]), 0, 0, None, "order", "{}", None, False)

    is_finished, taken = queue.finish_and_take(claim, "1", Owner(0, claim.incarnation), candidate)

    assert is_finished
    assert taken is not None
    assert (queue.get(claim.job_id)["status"], step_of(queue, claim.job_id)) == ("done", None)


def test_the_server_itself_refuses_to_let_it_be_done_again(database, queue, claim):
    irreversible.begin(database, claim, STEP)
    for status in ("pending", "done"):
        with pytest.raises(BadData, match="half_done_is_not_repeated"):
            database.run_statement(f"UPDATE work_queue SET status = '{status}'")
    assert queue.get(claim.job_id)["status"] == "in_progress"


def test_who_ends_another_claim_must_know_its_step(database, queue, claim, expire):
    (read,) = database.fetch_all("claims_of_incarnation", incarnation=claim.incarnation)
    # The worker begins its step after the other has read the row.
    irreversible.begin(database, claim, STEP)
    before = everything(database)

    with pytest.raises(ClaimLost):
        queue.end(queue.claim_in(read), Ending(Outcome.SWEPT, "vanished"), as_read=True)

    assert everything(database) == before
    expire(claim)
    (swept,) = sweep(database, queue)
    assert (swept.status, step_of(queue, claim.job_id)) == ("error", STEP)


def test_a_worker_knows_better_than_its_row(database, queue, claim):
    # The write went through, but its worker never heard so, and did not go on.
    irreversible.begin(database, claim, STEP)

    queue.end(claim, Ending(Outcome.HANDED_BACK, "the database was away", Cause.POOL))

    row = queue.get(claim.job_id)
    assert (row["status"], row["irreversible_step"], row["attempts"]) == ("pending", None, 0)


def test_half_done_jobs_are_a_group_of_their_own_by_task_and_step(database, queue, claim_as):
    for task, step, kind in (
        ("order", "ordering 17 boxes", Outcome.CRASHED),
        ("order", "ordering 4 boxes", Outcome.TIMED_OUT),
        ("order", "paying", Outcome.CRASHED),
        ("pay", "paying", Outcome.CRASHED),
    ):
        queue.enqueue(task, {})
        own = Ending(kind, f"by {kind}", fingerprint="f" * 16, label="it", irreversible_step=step)
        queue.end(claim_as(), own)

    rows = database.fetch_all("half_done_groups")

    assert sorted((row["task"], int(row["jobs"])) for row in rows) == [
        ("order", 1), ("order", 2), ("pay", 1)
    ]  # fmt: skip
    labels = {row["label"] for row in database.run_statement("SELECT label FROM failure_groups")}
    assert "may be half done at 'paying'" in labels
