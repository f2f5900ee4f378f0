"""Jobs in error are found by group, filter or number, put back or discarded, and nothing twice."""

from __future__ import annotations

import pytest

from tests.conftest import because
from tests.integration.history.conftest import MISSING, TIMEOUT, age
from worker.errors import UsageError
from worker.history import archive, dead_letters
from worker.history.archive import Label
from worker.history.dead_letters import Filter, Scope
from worker.models import Ending, Outcome

LABEL = Label("me@here", "discarded by me@here")


def test_the_beginning_of_a_name_is_enough_unless_it_is_that_of_several(database, fail):
    fail(TIMEOUT)
    fail(MISSING)

    assert dead_letters.find_group(database, "aaaa")["fingerprint"] == TIMEOUT
    assert dead_letters.find_group(database, MISSING)["fingerprint"] == MISSING
    with pytest.raises(UsageError, match=f"several groups begin with aaa: {TIMEOUT}, {MISSING}"):
        dead_letters.find_group(database, "aaa")
    with pytest.raises(UsageError, match="no group's name begins with ab"):
        dead_letters.find_group(database, "ab")
    for odd in ("%", "a_", "", "a" * 17):
        with pytest.raises(UsageError, match="is not a group's name"):
            dead_letters.find_group(database, odd)


def test_a_retried_job_has_its_budgets_back_and_keeps_its_count_of_attempts(
    database, queue, claim_as, fail, scope
):
    job = fail()
    database.run_statement(
        "UPDATE work_queue SET attempts = 4, blocks = 2, crashes = 1, "
        "not_before = UTC_TIMESTAMP(6) + INTERVAL 1 DAY, wait_reason = 'x'"
    )

    assert dead_letters.retry(database, scope(group=TIMEOUT)) == 1

    row = queue.get(job)
    assert (row["status"], row["attempts"], row["forgiven"]) == ("pending", 4, 4)
    assert (row["blocks"], row["crashes"], row["not_before"], row["wait_reason"]) == (
        0,
        0,
        None,
        None,
    )
    assert row["finished_at"] is None
    claim = claim_as()
    assert (claim.attempt, claim.tries, claim.is_last_attempt) == (5, 1, False)


def test_what_fails_again_after_the_scope_was_frozen_is_not_taken_twice(
    database, queue, claim_as, fail, scope
):
    job = fail()
    frozen = scope(group=TIMEOUT)
    filtered = Scope(frozen.until, filter=Filter(task="visit"))
    numbered = Scope(frozen.until, ids=(job,))
    assert dead_letters.retry(database, frozen) == 1
    queue.fail(claim_as(), because("again", None, TIMEOUT))

    for each in (frozen, filtered, numbered):
        assert dead_letters.retry(database, each) == 0
        assert dead_letters.discard(database, each, LABEL) == 0
    assert dead_letters.count(database, frozen).jobs == 0
    assert dead_letters.count(database, filtered).jobs == 0
    assert dead_letters.retry(database, scope(group=TIMEOUT)) == 1


def test_a_limit_takes_the_oldest_as_a_canary(database, queue, fail, scope):
    jobs = [fail() for _ in range(5)]

    assert dead_letters.retry(database, scope(group=TIMEOUT), limit=2) == 2

    assert [queue.get(job)["status"] for job in jobs] == ["pending"] * 2 + ["error"] * 3
    assert dead_letters.retry(database, scope("task=visit"), limit=1) == 1
    assert dead_letters.retry(database, scope("task=visit"), limit=9) == 2


def test_many_jobs_go_in_several_pages_and_transactions(database, queue, scope, monkeypatch):
    monkeypatch.setattr(dead_letters, "PAGE", 7)
    monkeypatch.setattr(dead_letters, "AT_ONCE", 3)
    queue.enqueue_many("visit", [{"url": f"https://s{n % 3}.example/"} for n in range(60)])
    database.run_statement(
        "UPDATE work_queue SET status = 'error', fingerprint = %(group)s, priority = id %% 5",
        {"group": TIMEOUT},
    )

    assert dead_letters.count(database, scope("site=s1.example")).jobs == 20
    assert dead_letters.retry(database, scope("site=s1.example")) == 20
    assert dead_letters.discard(database, scope(group=TIMEOUT), LABEL, limit=15) == 15
    assert dead_letters.retry(database, scope(group=TIMEOUT)) == 25
    assert queue.counts() == {"pending": 45, "in_progress": 0, "done": 0, "error": 0}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("task=visit", {"old", "new"}),
        ("site=b.example", {"other"}),
        ("site=www.B.example", {"other"}),
        ("older-than=6h", {"old"}),
        ("newer-than=6h", {"new", "other"}),
        ("task=visit, newer-than=6h", {"new"}),
        ("reason~TIMEOUT 30000", {"old", "new"}),
        ("task=visit,older-than=1h,reason~ms exceeded", {"old"}),
        ("reason~100%", {"other"}),
        ("reason~a, b", {"other"}),
        ("reason~_", set()),
        ("task=visit,site=b.example", set()),
        ("older-than=0s", {"old", "new", "other"}),
    ],
)
def test_a_filter_means_the_jobs_for_which_all_its_conditions_hold(
    database, fail, scope, text, meant
):
    jobs = {"old": fail(), "new": fail()}
    jobs["other"] = fail(MISSING, "at 100% of a, b", task="order", url="https://b.example/1")
    age(database, jobs["old"], 7)
    wanted = scope(text)

    assert dead_letters.count(database, wanted).jobs == len(meant)
    assert dead_letters.retry(database, wanted) == len(meant)
    left = dead_letters.states(database, list(jobs.values()))
    assert {name for name, job in jobs.items() if left[job]["status"] == "pending"} == meant


def test_a_filter_leaves_out_muted_groups_and_says_how_many(database, fail, scope):
    fail(TIMEOUT)
    fail(MISSING)
    dead_letters.mute(database, MISSING, by="me@here", reason="known")

    assert dead_letters.count(database, scope("task=visit")) == dead_letters.Count(1, muted=1)
    assert dead_letters.retry(database, scope("task=visit")) == 1
    # Whoever names the group means it.
    assert dead_letters.retry(database, scope(group=MISSING)) == 1
    assert dead_letters.unmute(database, MISSING) is True
    assert dead_letters.unmute(database, MISSING) is False


def test_a_discarded_job_is_in_the_archive_with_who_and_why(database, queue, fail, scope):
    job = fail()

    assert dead_letters.discard(database, scope(ids=(job,)), LABEL) == 1

    found, history = archive.find(database, job)
    assert (found["status"], found["archived_by"]) == ("error", "me@here")
    assert found["archive_reason"] == "discarded by me@here"
    assert [attempt["outcome"] for attempt in history] == ["error"]
    assert queue.get(job) is None


def test_jobs_that_are_not_in_error_are_never_touched(database, queue, claim_as, fail, scope):
    done = queue.enqueue("visit", {})
    queue.complete(claim_as(), {})
    busy = queue.enqueue("visit", {})
    claim_as()
    database.run_statement("UPDATE work_queue SET fingerprint = %(g)s", {"g": TIMEOUT})
    before = queue.get(done), queue.get(busy)

    for each in (scope(ids=(done, busy)), scope(group=TIMEOUT), scope("task=visit")):
        assert dead_letters.retry(database, each) == 0
        assert dead_letters.discard(database, each, LABEL) == 0

    assert (queue.get(done), queue.get(busy)) == before


def test_a_done_job_that_is_repeated_keeps_its_former_finish_in_the_history(
    database, queue, claim_as
):
    job = queue.enqueue("visit", {})
    queue.complete(claim_as(), {"n": 1})

    assert dead_letters.repeat_done(database, [job], archive.now(database)) == 1
    claim = claim_as()
    queue.complete(claim, {"n": 2})

    assert claim.tries == 1
    assert [(row["attempt"], row["outcome"]) for row in queue.history(job)] == [
        (1, "done"),
        (2, "done"),
    ]


def test_what_may_be_half_done_is_put_back_only_where_that_was_said(
    database, queue, claim_as, scope
):
    job = queue.enqueue("order", {})
    queue.end(claim_as(), Ending(Outcome.CRASHED, "killed", irreversible_step="paying"))

    careful = scope(ids=(job,), half_done=False)
    assert dead_letters.count(database, careful) == dead_letters.Count(0, half_done=1)
    assert dead_letters.retry(database, careful) == 0
    assert queue.get(job)["status"] == "error"

    assert dead_letters.retry(database, scope(ids=(job,))) == 1
    assert (queue.get(job)["status"], queue.get(job)["irreversible_step"]) == ("pending", None)
