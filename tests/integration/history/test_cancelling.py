"""Cancelled jobs move to the archive and can come back; nothing is lost and nothing done twice."""

from __future__ import annotations

import re

import pytest

from worker.database.statements import query
from worker.errors import ClaimLost
from worker.history import archive, cancelling
from worker.history.archive import Label
from worker.history.cancelling import Gone

LABEL = Label("me", "cancelled by me")


def test_pending_jobs_move_to_the_archive_as_they_stand(database, queue, claim_as):
    waiting, ready = queue.enqueue("visit", {}, delay_seconds=500), queue.enqueue("visit", {})
    done = queue.enqueue("visit", {}, priority=-1)
    queue.complete(claim_as(), {})

    assert cancelling.cancel(database, [waiting, ready, done], LABEL) == 2

    archived, _ = archive.find(database, ready)
    assert (archived["status"], archived["archive_reason"]) == ("pending", "cancelled by me")
    assert queue.counts() == {"pending": 0, "in_progress": 0, "done": 1, "error": 0}


def test_a_job_at_work_is_cancelled_only_when_that_is_asked_for(database, queue, claim_as):
    job = queue.enqueue("visit", {})
    claim = claim_as()
    assert cancelling.cancel(database, [job], LABEL) == 0

    assert cancelling.cancel(database, [job], LABEL, running=True) == 1
    with pytest.raises(ClaimLost):
        queue.complete(claim, {})
    assert queue.get(job) is None


def test_a_job_at_an_irreversible_step_is_left_alone(database, queue, claim_as):
    job = queue.enqueue("visit", {})
    claim_as()
    database.run_statement("UPDATE work_queue SET irreversible_step = 'paying'")

    assert cancelling.cancel(database, [job], LABEL, running=True) == 0
    assert queue.get(job)["status"] == "in_progress"


def test_what_comes_back_is_as_it_was(database, queue, claim_as, put_away):
    failed = queue.enqueue("visit", {"a": 1}, dedupe_key="k", queue="slow", batch="b")
    queue.fail(claim_as(), {"reason": "no", "last_error": "no"})
    pending = queue.enqueue("visit", {}, priority=3)
    before = queue.get(failed), queue.history(failed)
    put_away(failed)
    cancelling.cancel(database, [pending], LABEL)

    assert list(cancelling.bring_back(database, [failed, pending])) == [
        (failed, True),
        (pending, True),
    ]

    changing = ("changed_at", "ready_at")
    kept = [
        {k: v for k, v in row.items() if k not in changing}
        for row in (before[0], queue.get(failed))
    ]
    assert kept[0] == kept[1]
    assert queue.history(failed) == before[1]
    assert queue.get(pending)["status"] == "pending"
    assert archive.find(database, failed) is None


def test_nothing_that_a_job_has_is_left_behind_when_it_comes_back(database):
    """A step that was taken, for one, must not be taken again."""
    rows = database.run_statement(
        "SELECT column_name AS name FROM information_schema.columns WHERE table_name = "
        "'work_queue' AND table_schema = DATABASE() AND COALESCE(generation_expression, '') = ''"
    )
    put_back = re.search(r"\((.*?)\)\s*SELECT", query("bring_back_job"), re.DOTALL)
    assert put_back is not None
    names = {name.strip() for name in put_back[1].split(",")}

    assert {row["name"] for row in rows} - names == {"lease_until", "changed_at"}


def test_a_running_job_that_was_cancelled_comes_back_pending_and_its_old_worker_is_refused(
    database, queue, claim_as
):
    job = queue.enqueue("visit", {})
    old = claim_as()
    cancelling.cancel(database, [job], LABEL, running=True)

    assert list(cancelling.bring_back(database, [job])) == [(job, True)]
    new = claim_as()
    assert new.fence > old.fence
    with pytest.raises(ClaimLost):
        queue.complete(old, {})
    queue.complete(new, {})


def test_a_job_whose_key_is_taken_stays_in_the_archive(database, queue):
    job = queue.enqueue("visit", {}, dedupe_key="k")
    cancelling.cancel(database, [job], LABEL)
    queue.enqueue("visit", {}, dedupe_key="k")

    assert list(cancelling.bring_back(database, [job])) == [(job, False)]
    assert archive.find(database, job) is not None


def test_only_what_a_person_sent_away_is_found_by_filters(database, queue, put_away):
    cancelled, other = queue.enqueue("visit", {}, batch="b"), queue.enqueue("price", {})
    cancelling.cancel(database, [cancelled, other], LABEL)
    old = queue.enqueue("visit", {})
    put_away(old, statuses=("pending",))

    assert cancelling.gone(database, Gone(task="visit")) == [cancelled]
    assert cancelling.gone(database, Gone(batch="b")) == [cancelled]
    assert cancelling.gone(database, Gone(ids=(old,))) == [old]
