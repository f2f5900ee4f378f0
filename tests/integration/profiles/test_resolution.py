"""Which profile a job gets: one holder at a time, refused without cost, by what the job says."""

from __future__ import annotations

import json

import pytest

from tests.conftest import because
from tests.integration.profile_fixtures import events, finish, state
from worker.models import Cause, Claim, Outcome
from worker.profiles import lease_endings, store


def test_a_profile_is_leased_with_the_claim_and_released_after_it(database, worker, enqueue, add):
    add("p1", account_id="a1")
    enqueue("p1")

    claim = worker.claim()

    assert (claim.profile_id, claim.lease_fence) == ("p1", 1)
    assert state(database) == "leased"
    lease = database.fetch_all("leases_of_profile", profile_id="p1")[0]
    assert (lease["job_id"], lease["job_fence"]) == (claim.job_id, claim.fence)
    assert (lease["account_id"], lease["incarnation"]) == ("a1", worker.owner.incarnation)
    finish(worker, claim)
    assert state(database) == "available"
    assert events(database) == ["added", "leased", "released"]


def test_jobs_of_one_profile_never_run_in_parallel(database, worker, other, enqueue, add):
    add("p1", "p2")
    first, second, third = enqueue("p1"), enqueue("p1"), enqueue("p2")

    claim = worker.claim()

    assert claim.job_id == first
    assert other.claim().job_id == third
    assert other.claim_now() is None
    finish(worker, claim)
    again = other.claim_now()
    assert (again.job_id, again.lease_fence) == (second, 2)


def test_a_refused_job_waits_with_a_reason_and_no_attempt(
    database, queue, worker, other, enqueue, add
):
    add("p1")
    enqueue("p1")
    second = enqueue("p1")
    worker.claim()
    other.closures.closed.clear()
    other.closures._read_at = float("inf")

    assert other.claim() is None

    job = queue.get(second)
    assert (job["status"], job["attempts"]) == ("pending", 0)
    assert job["wait_reason"] == "profile p1 is in use"
    row = database.fetch_all("events_of_profile", id="p1", limit=1)[0]
    assert (row["event"], row["decision"], row["job_id"]) == (
        "profile_lock_conflict",
        "wait",
        second,
    )
    assert "worker 0" in row["reason"]
    assert row["next_check"] is not None


def test_a_shared_profile_has_as_many_holders_as_it_allows(database, worker, enqueue, add):
    add("p1", max_active_runs=2)
    for _ in range(3):
        enqueue("p1")
    first, second = worker.claim_now(), worker.claim_now()

    assert {first.lease_fence, second.lease_fence} == {1, 2}
    assert worker.claim_now() is None
    finish(worker, first)
    assert state(database) == "leased"
    assert worker.claim_now().lease_fence == 3


def test_an_exclusive_job_shares_with_nobody(database, worker, enqueue, add):
    add("p1", max_active_runs=3)
    enqueue("p1")
    enqueue("p1", exclusive=True)
    first = worker.claim_now()
    assert worker.claim_now() is None
    finish(worker, first)
    exclusive = worker.claim_now()
    enqueue("p1")
    assert exclusive is not None
    assert worker.claim_now() is None


def test_an_account_takes_whichever_of_its_profiles_is_free(database, worker, enqueue, add):
    add("p1", "p2", account_id="a1")
    for _ in range(3):
        enqueue(account="a1")

    taken = {worker.claim_now().profile_id, worker.claim_now().profile_id}

    assert taken == {"p1", "p2"}
    assert worker.claim_now() is None


@pytest.mark.parametrize(
    ("job", "problem"),
    [
        ({"profile": "nobody"}, "there is no profile nobody"),
        ({"account": "nobody"}, "there is no account nobody"),
        ({"profile": "p1", "account": "a2"}, "belongs to account a1, not to a2"),
        ({"profile": "p9", "account": "a2"}, "belongs to no account, not to a2"),
        ({"profile": "p2"}, "does not allow 'visit'"),
        ({"profile": "p1", "proxy": "berlin"}, "wants proxy berlin"),
        ({"profile": "p1", "on_conflict": "panic"}, "manifest.on_conflict: 'panic'"),
        ({"profile": "p1", "colour": "red"}, "unknown field 'colour'"),
        ({"profile": "p1", "lock_timeout": "soon"}, "manifest.lock_timeout"),
        ({"profile": "p1", "actions": "visit"}, "manifest.actions"),
    ],
)
def test_what_no_wait_can_help_is_rejected_with_its_problem(worker, enqueue, add, job, problem):
    add("p1", account_id="a1")
    add("p2", allowed_actions=("checkout",))
    add("p9")
    enqueue(job.pop("profile", None), job.pop("account", None), **job)

    rejected = worker.gate_answer()

    assert rejected.ending.outcome is Outcome.ERROR
    assert problem in rejected.ending.reason
    assert rejected.claim.lease_fence is None
    is_mistake = "manifest" in problem or "unknown field" in problem
    assert rejected.ending.cause is (Cause.CODE if is_mistake else Cause.PROFILE)


def test_the_jobs_of_an_account_without_profiles_need_none(database, worker, enqueue):
    store.add_account(database, "a1", by="me")
    enqueue(account="a1")
    store.pause_account(database, "a1", reason="captcha", by="me")
    assert worker.claim() is None
    store.resume_account(database, "a1", by="me")

    claim = worker.claim_now()

    assert (claim.account_id, claim.lease_fence) == ("a1", None)


def test_a_manifest_in_the_payload_routes_like_the_columns(database, worker, queue, add):
    add("p1")
    queue.enqueue("visit", {"manifest": {"profile": "p1"}})
    queue.enqueue("visit", {"manifest": {"profile": "p1"}})

    assert worker.claim().profile_id == "p1"
    assert worker.claim_now() is None


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        ({"profil": "p1"}, "unknown field 'profil'"),
        ("p1", "must be an object"),
        (5, "must be an object"),
        (["p1"], "must be an object"),
        ({"profile": True}, "manifest.profile: must be text"),
        ({"profile": ""}, "manifest.profile: give 1 to 64 characters"),
    ],
)
def test_a_manifest_that_is_not_understood_is_an_error_before_a_browser_is_opened(
    worker, queue, add, manifest, problem
):
    add("p1")
    queue.enqueue("visit", {"url": "about:blank", "manifest": manifest})

    assert worker.candidates.has_next()
    assert worker.candidates.at_hand() is None, "it would be claimed without a look at its manifest"
    assert problem in worker.gate_answer().ending.reason


@pytest.mark.parametrize("payload", [{"manifest": None}, {"manifest": {}}, {"say": "manifest"}])
def test_a_payload_without_a_manifest_needs_no_profile(worker, queue, payload):
    queue.enqueue("visit", payload)

    assert isinstance(worker.gate_answer(), Claim)


def test_a_temporary_profile_needs_no_lock(worker, queue):
    queue.enqueue("visit", {"manifest": {"temporary": True}})

    claim = worker.claim()

    assert claim.lease_fence is None


@pytest.mark.parametrize("decision", ["reschedule", "skip", "review"])
def test_a_job_says_what_becomes_of_it_on_conflict(
    database, queue, worker, other, enqueue, add, decision
):
    add("p1")
    enqueue("p1")
    second = enqueue("p1", on_conflict=decision, lock_timeout="10m")
    worker.claim()

    rejected = other.gate_answer()

    if decision == "reschedule":
        assert rejected is None
        assert queue.get(second)["not_before"] is not None
    elif decision == "skip":
        assert rejected.ending.outcome is Outcome.DONE
        assert "profile p1 is in use" in json.loads(rejected.ending.result)["skipped"]
    else:
        assert rejected.ending.outcome is Outcome.ERROR
        assert "put up for review: profile p1 is in use" in rejected.ending.reason
    assert database.fetch_all("events_of_profile", id="p1", limit=1)[0]["decision"] == decision


def test_a_job_gives_up_after_its_lock_timeout(database, worker, other, enqueue, add):
    add("p1")
    enqueue("p1")
    waiting = enqueue("p1", lock_timeout="10m")
    running = worker.claim()
    assert other.claim_now() is None
    assert other.claim_now() is None
    assert events(database).count("profile_lock_conflict") == 1
    database.run_statement(
        "UPDATE profile_events SET at = at - INTERVAL 11 MINUTE,"
        " next_check = next_check - INTERVAL 11 MINUTE"
    )
    other.candidates.impatient._look_at = 0.0

    other.look_again()
    rejected = other.gate_answer()

    assert rejected.claim.job_id == waiting
    assert "its lock timeout: profile p1 is in use" in rejected.ending.reason
    assert running.job_id != waiting


def test_a_job_with_a_lock_timeout_runs_when_its_profile_is_free(worker, other, enqueue, add):
    add("p1")
    enqueue("p1")
    waiting = enqueue("p1", lock_timeout="10m")
    running = worker.claim()
    assert other.claim_now() is None
    finish(worker, running)

    claim = other.claim_now()

    assert (claim.job_id, claim.lease_fence) == (waiting, 2)


def test_an_account_looks_past_a_profile_that_does_not_allow_the_task(worker, enqueue, add):
    add("p1", account_id="a1", allowed_actions=("checkout",))
    add("p2", account_id="a1")
    enqueue(account="a1")

    claim = worker.claim()

    assert claim.profile_id == "p2"


@pytest.mark.parametrize("name", ["exclusive", "temporary"])
def test_a_flag_of_a_manifest_is_true_or_false_and_nothing_else(worker, enqueue, add, name):
    add("p1")
    enqueue("p1", **{name: "false"})

    assert f"manifest.{name}: 'false'" in worker.gate_answer().ending.reason


def test_a_wait_before_an_earlier_run_does_not_count_towards_the_lock_timeout(
    database, queue, worker, other, enqueue, add
):
    add("p1")
    job = enqueue("p1", lock_timeout="10m")
    database.run_statement(
        "INSERT INTO profile_events (profile_id, at, event, job_id, author, reason) VALUES"
        " ('p1', UTC_TIMESTAMP(6) - INTERVAL 1 HOUR, 'profile_lock_conflict', %(job)s, 'w', '')",
        {"job": job},
    )
    queue.hand_back(worker.claim(), because("stopped"))
    lease_endings.release(database, "p1", 1, author="w", reason="done")
    store.check_out(database, "p1", person="ada", seconds=3600, reason="")
    other.closures._read_at = float("inf")

    assert other.claim() is None

    assert queue.get(job)["wait_reason"] == "profile p1 is in use"
