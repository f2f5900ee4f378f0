"""Profiles at the gate: one holder at a time, refused without cost, never silently available."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace

import pytest

from tests.integration.test_gate import Worker
from worker import breakers, limits, proxies
from worker.closures import Closure, Closures
from worker.database import Database
from worker.errors import LeaseLost, UsageError
from worker.models import Cause, Claim, Explanation
from worker.profiles import caretaker, leases, store
from worker.profiles.states import State
from worker.profiles.store import NewProfile
from worker.proxy import Proxy
from worker.waiting import why


@pytest.fixture
def worker(database):
    with closing(Worker(database.settings)) as worker:
        yield worker


@pytest.fixture
def other(database):
    with closing(Worker(database.settings)) as worker:
        worker.owner = replace(worker.owner, incarnation=2000)
        yield worker


@pytest.fixture
def enqueue(queue, database):
    def enqueue(profile: str | None = None, account: str | None = None, **manifest: object) -> int:
        payload = {"url": "about:blank"} | ({"manifest": manifest} if manifest else {})
        job_id = queue.enqueue("visit", payload)
        database.run_statement(
            "UPDATE work_queue SET profile_id = %(p)s, account_id = %(a)s WHERE id = %(i)s",
            {"p": profile, "a": account, "i": job_id},
        )
        return job_id

    return enqueue


@pytest.fixture
def add(database):
    def add(*names: str, **fields: object) -> None:
        store.add(database, [NewProfile(name, **fields) for name in names], "me")  # type: ignore[arg-type]

    return add


def state(database, name: str = "p1") -> str:
    return str(store.get(database, name)["state"])


def finish(worker: Worker, claim: Claim, review: str | None = None) -> None:
    worker.queue.complete(claim, {})
    leases.release(
        worker.db, claim.profile_id, claim.lease_fence, author="w", reason="done", review=review
    )


def closed_now(database) -> dict[str, Closure]:
    closures = Closures(database)
    closures.refresh()
    return closures.closed


def events(database, name: str = "p1") -> list[str]:
    rows = database.fetch_all("events_of_profile", id=name, limit=100)
    return [row["event"] for row in reversed(rows)]


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
        ({"profile": "p2"}, "does not allow 'visit'"),
        ({"profile": "p1", "proxy": "berlin"}, "wants proxy berlin"),
        ({"profile": "p1", "on_conflict": "panic"}, "manifest.on_conflict: 'panic'"),
        ({"profile": "p1", "colour": "red"}, "unknown field 'colour'"),
        ({"profile": "p1", "lock_timeout": "soon"}, "manifest.lock_timeout"),
        ({"profile": "p1", "actions": "visit"}, "manifest.actions"),
    ],
)
def test_what_no_wait_can_help_is_claimed_with_its_problem(worker, enqueue, add, job, problem):
    add("p1", account_id="a1")
    add("p2", allowed_actions=("checkout",))
    enqueue(job.pop("profile", None), job.pop("account", None), **job)

    claim = worker.claim()

    assert problem in claim.problem
    assert claim.lease_fence is None
    is_mistake = "manifest" in problem or "unknown field" in problem
    assert claim.problem_cause is (Cause.CODE if is_mistake else Cause.PROFILE)


def test_the_jobs_of_an_account_without_profiles_need_none(database, worker, enqueue):
    store.add_account(database, "a1", by="me")
    enqueue(account="a1")
    store.pause_account(database, "a1", reason="captcha", by="me")
    assert worker.claim() is None
    store.resume_account(database, "a1", by="me")

    claim = worker.claim_now()

    assert (claim.account_id, claim.lease_fence, claim.problem) == ("a1", None, None)


def test_a_manifest_in_the_payload_routes_like_the_columns(database, worker, queue, add):
    add("p1")
    queue.enqueue("visit", {"manifest": {"profile": "p1"}})
    queue.enqueue("visit", {"manifest": {"profile": "p1"}})

    assert worker.claim().profile_id == "p1"
    assert worker.claim_now() is None


def test_a_temporary_profile_needs_no_lock(worker, queue):
    queue.enqueue("visit", {"manifest": {"temporary": True}})

    claim = worker.claim()

    assert (claim.lease_fence, claim.problem) == (None, None)


@pytest.mark.parametrize("decision", ["reschedule", "skip", "review"])
def test_a_job_says_what_becomes_of_it_on_conflict(
    database, queue, worker, other, enqueue, add, decision
):
    add("p1")
    enqueue("p1")
    second = enqueue("p1", on_conflict=decision, lock_timeout="10m")
    worker.claim()

    claim = other.claim()

    if decision == "reschedule":
        assert claim is None
        assert queue.get(second)["not_before"] is not None
    elif decision == "skip":
        assert "profile p1 is in use" in claim.skipped
    else:
        assert "put up for review: profile p1 is in use" in claim.problem
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
    other.candidates._look_for_impatient_at = 0.0

    claim = other.claim_now()

    assert claim.job_id == waiting
    assert "its lock timeout: profile p1 is in use" in claim.problem
    assert running.job_id != waiting


def test_a_job_with_a_lock_timeout_runs_when_its_profile_is_free(worker, other, enqueue, add):
    add("p1")
    enqueue("p1")
    waiting = enqueue("p1", lock_timeout="10m")
    running = worker.claim()
    assert other.claim_now() is None
    finish(worker, running)

    claim = other.claim_now()

    assert (claim.job_id, claim.problem, claim.lease_fence) == (waiting, None, 2)


@pytest.mark.parametrize("set_to", ["review_required", "quarantined", "disabled"])
def test_a_profile_set_aside_is_left_alone_until_it_is_cleared(
    database, worker, enqueue, add, set_to
):
    add("p1")
    enqueue("p1")
    store.set_state(database, "p1", State(set_to), reason="strange", by="me")

    assert worker.claim() is None
    assert worker.closures.next_opening_seconds is None
    store.set_state(database, "p1", State.AVAILABLE, reason="looked at", by="me")
    assert worker.claim_now() is not None


def test_a_paused_account_holds_its_jobs_back(database, worker, enqueue, add):
    add("p1", account_id="a1")
    enqueue("p1")
    enqueue(account="a1")
    store.pause_account(database, "a1", reason="captcha", by="me")

    assert worker.claim() is None
    assert {"profile:p1", "account:a1"} <= set(worker.closures.closed)
    assert store.resume_account(database, "a1", by="me")
    assert worker.claim_now() is not None
    with pytest.raises(UsageError, match="no account a9"):
        store.pause_account(database, "a9", reason="", by="me")


def test_a_vendors_plan_caps_its_profiles(database, worker, enqueue, add):
    add("p1", "p2", "p3", provider="kameleo")
    limits.set_limit(database, "vendor:kameleo", concurrent=2, per_minute=None, by="me")
    for name in ("p1", "p2", "p3"):
        enqueue(name)

    claims = [worker.claim_now() for _ in range(3)]

    assert [claim is not None for claim in claims] == [True, True, False]


def test_an_old_fence_is_refused(database, worker, enqueue, add):
    add("p1")
    enqueue("p1")
    claim = worker.claim()
    assert leases.end_unexplained(database, "p1", 1, author="sweep", reason="expired")
    assert not leases.end_unexplained(database, "p1", 1, author="sweep", reason="expired")

    with pytest.raises(LeaseLost):
        leases.release(database, "p1", claim.lease_fence, author="w", reason="late")

    assert state(database) == "stale"


def test_the_death_of_a_holder_makes_a_profile_stale_and_a_check_available(
    database, worker, enqueue, add
):
    add("p1")
    enqueue("p1")
    worker.claim()

    assert leases.end_of_the_dead(database, worker.owner.incarnation, "SIGKILL") == ["p1"]

    assert state(database) == "stale"
    stopped = []
    assert caretaker.check_stale(database, stopped.append, "w") == 1
    assert [spec.profile_id for spec in stopped] == ["p1"]
    assert state(database) == "available"
    assert events(database)[-2:] == ["stale", "checked"]


def test_nobody_takes_a_profile_out_of_a_checkers_hands(database, worker, enqueue, add):
    """A check stops what runs in the profile: that must not be what somebody has just begun."""
    add("p1")
    enqueue("p1")
    worker.claim()
    leases.end_of_the_dead(database, worker.owner.incarnation, "SIGKILL")
    refused = []

    def stop(spec: object) -> None:
        with closing(Database(database.settings)) as db:
            for take in (
                lambda: store.set_state(db, "p1", State.AVAILABLE, reason="well", by="me"),
                lambda: store.check_out(db, "p1", person="ada", seconds=60, reason=""),
            ):
                with pytest.raises(UsageError, match="is being checked just now") as refusal:
                    take()
                refused.append(refusal)

    assert caretaker.check_stale(database, stop, "w") == 1
    assert len(refused) == 2
    store.check_out(database, "p1", person="ada", seconds=60, reason="")


def test_a_profile_whose_browser_cannot_be_stopped_stays_stale(database, worker, enqueue, add):
    add("p1")
    enqueue("p1")
    worker.claim()
    leases.end_of_the_dead(database, worker.owner.incarnation, "SIGKILL")

    def fail(spec: object) -> None:
        raise UsageError("the vendor does not answer")

    assert caretaker.check_stale(database, fail, "w") == 0
    assert state(database) == "stale"


@pytest.mark.parametrize(
    ("step", "url", "policy", "expected"),
    [
        ("", "", "check", "stale"),
        ("logged in", "https://shop.example/home", "check", "stale"),
        ("submitting order", "https://shop.example/pay", "check", "quarantined"),
        ("logged in", "about:blank", "check", "review_required"),
        ("logged in", "https://shop.example/home", "review", "review_required"),
        ("logged in", "https://shop.example/home", "quarantine", "quarantined"),
    ],
)
def test_the_last_safe_step_decides_what_follows_a_death(
    database, worker, enqueue, add, step, url, policy, expected
):
    add("p1", release_policy=policy)
    enqueue("p1")
    claim = worker.claim()
    if step:
        leases.note_step(database, "p1", claim.lease_fence, step, url)

    leases.end_of_the_dead(database, worker.owner.incarnation, "SIGKILL")

    assert state(database) == expected
    assert "stale" in events(database)


def test_a_changed_proxy_and_a_wanted_review_lead_to_a_review(database, worker, enqueue, add):
    add("p1", "p2", "p3")
    for name in ("p1", "p2", "p3"):
        enqueue(name)
    claims = {claim.profile_id: claim for claim in (worker.claim() for _ in range(3))}
    database.run_statement("UPDATE profiles SET proxy = 'berlin' WHERE id = 'p1'")
    leases.want_review(database, "p2", claims["p2"].lease_fence, "security prompt")

    leases.end_of_the_dead(database, worker.owner.incarnation, "SIGKILL")
    finish_alive = claims["p3"]

    assert state(database, "p1") == "review_required"
    assert state(database, "p2") == "review_required"
    assert finish_alive.lease_fence == 1


def test_a_task_that_wants_a_review_gets_it_at_a_clean_release(database, worker, enqueue, add):
    add("p1")
    enqueue("p1")

    finish(worker, worker.claim(), review="security prompt")

    assert state(database) == "review_required"
    assert worker.claim_now() is None


def test_an_expired_lease_is_swept_to_stale(database, worker, enqueue, add):
    add("p1")
    enqueue("p1")
    worker.claim()
    assert leases.sweep(database) == []
    database.run_statement("UPDATE profile_leases SET expires_at = expires_at - INTERVAL 1 HOUR")

    assert [name for name, _ in leases.sweep(database)] == ["p1"]

    assert state(database) == "stale"


def test_living_workers_leases_are_renewed_together(database, worker, enqueue, add):
    add("p1")
    enqueue("p1")
    worker.claim()
    database.run_statement("UPDATE profile_leases SET expires_at = expires_at - INTERVAL 1 HOUR")

    assert leases.renew(database, [worker.owner.incarnation], 60.0) == 1

    assert leases.sweep(database) == []


def test_a_persons_checkout_counts_as_a_lease(database, worker, enqueue, add):
    add("p1")
    enqueue("p1")

    store.check_out(database, "p1", person="ada", seconds=3600, reason="password change")

    assert worker.claim() is None
    assert worker.closures.next_opening_seconds == pytest.approx(3600, abs=30)
    with pytest.raises(UsageError, match="profile p1 is in use"):
        store.check_out(database, "p1", person="bob", seconds=60, reason="")
    store.give_back(database, "p1", by="ada")
    with pytest.raises(UsageError, match="not checked out"):
        store.give_back(database, "p1", by="ada")
    assert worker.claim_now() is not None


def test_a_profile_set_aside_while_held_stays_so_after_the_release(database, worker, enqueue, add):
    add("p1")
    enqueue("p1")
    claim = worker.claim()
    store.set_state(database, "p1", State.QUARANTINED, reason="strange", by="me")

    finish(worker, claim)

    assert state(database) == "quarantined"


def test_no_way_leads_where_the_table_has_none(database, add):
    add("p1")
    store.set_state(database, "p1", State.DISABLED, reason="gone", by="me")
    with pytest.raises(UsageError, match="is disabled and cannot become quarantined"):
        store.set_state(database, "p1", State.QUARANTINED, reason="", by="me")
    with pytest.raises(UsageError, match="there is no profile p9"):
        store.set_state(database, "p9", State.DISABLED, reason="", by="me")


def test_many_closed_profiles_are_told_with_their_reasons(database, add):
    add(*(f"p{i}" for i in range(30)))
    for i in range(20):
        store.set_state(database, f"p{i}", State.QUARANTINED, reason=f"case {i}", by="me")
    closures = Closures(database)
    closures.refresh()

    assert len(closures.closed) == 20
    assert closures.closed["profile:p7"].reason == "profile p7 is quarantined: case 7"
    assert json.dumps(sorted(closures.conditions()[1]["closed_profiles"])).count("p") == 20


def test_an_account_looks_past_a_profile_that_does_not_allow_the_task(worker, enqueue, add):
    add("p1", account_id="a1", allowed_actions=("checkout",))
    add("p2", account_id="a1")
    enqueue(account="a1")

    claim = worker.claim()

    assert (claim.profile_id, claim.problem) == ("p2", None)


@pytest.mark.parametrize("name", ["exclusive", "temporary"])
def test_a_flag_of_a_manifest_is_true_or_false_and_nothing_else(worker, enqueue, add, name):
    add("p1")
    enqueue("p1", **{name: "false"})

    assert f"manifest.{name}: 'false'" in worker.claim().problem


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
    queue.hand_back(worker.claim(), Explanation("stopped"))
    leases.release(database, "p1", 1, author="w", reason="done")
    store.check_out(database, "p1", person="ada", seconds=3600, reason="")
    other.closures._read_at = float("inf")

    assert other.claim() is None

    assert queue.get(job)["wait_reason"] == "profile p1 is in use"


def test_a_shared_profile_is_checked_only_when_its_other_holders_have_let_go(
    database, worker, other, enqueue, add
):
    add("p1", max_active_runs=2)
    enqueue("p1")
    enqueue("p1")
    worker.claim()
    alive = other.claim()
    leases.end_of_the_dead(database, worker.owner.incarnation, "SIGKILL")
    stopped: list[object] = []

    assert caretaker.check_stale(database, stopped.append, "w") == 0
    assert stopped == []
    finish(other, alive)
    assert state(database) == "stale"
    assert caretaker.check_stale(database, stopped.append, "w") == 1
    assert state(database) == "available"


def test_an_account_whose_profiles_are_all_set_aside_is_not_waited_for(
    database, worker, enqueue, add
):
    add("p1", "p2", account_id="a1")
    enqueue(account="a1")
    for name in ("p1", "p2"):
        store.set_state(database, name, State.QUARANTINED, reason="strange", by="me")

    assert worker.claim() is None
    assert worker.closures.closed["account:a1"].seconds is None
    store.set_state(database, "p1", State.AVAILABLE, reason="looked at", by="me")
    store.check_out(database, "p1", person="ada", seconds=3600, reason="")
    assert worker.claim_now() is None
    assert worker.closures.closed["account:a1"].seconds == pytest.approx(3600, abs=30)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("is_enabled = FALSE", "is disabled"),
        ("region = 'us'", "is in us, not in de"),
        ("region = NULL", "is in an unknown region, not in de"),
        ("name = 'other'", "does not exist"),
        ("cooling_until = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR", "cools down after a failure"),
    ],
)
def test_a_profile_is_left_alone_while_its_proxy_cannot_be_used(
    database, worker, enqueue, add, change, reason
):
    proxies.add(database, replace(Proxy.parse("http://127.0.0.1:1"), name="berlin", region="de"))
    add("p1", proxy="berlin", region="de")
    job = enqueue("p1")
    database.run_statement(f"UPDATE proxies SET {change}")

    # Known without asking the gate, so that a run that only waits for this can end.
    assert reason in closed_now(database)["profile:p1"].reason
    worker.closures._read_at = float("inf")
    assert worker.claim() is None
    assert reason in worker.queue.get(job)["wait_reason"]


@pytest.fixture
def blocked_at_shop(database):
    """A proxy that shop.test has refused."""
    proxies.add(database, replace(Proxy.parse("http://127.0.0.1:1"), name="berlin"))
    number = proxies.all_proxies(database)[0]["id"]
    proxies.note_block(database, number, reason="a challenge", site="shop.test")


COOLS = "proxy berlin of profile p1 cools down at shop.test after a block"


def test_a_profile_waits_only_for_the_site_that_blocked_its_proxy(
    database, worker, queue, add, blocked_at_shop
):
    add("p1", proxy="berlin")
    # More than a worker looks at in one search.
    waiting = [
        queue.enqueue("visit", {"url": "http://shop.test/", "manifest": {"profile": "p1"}})
        for _ in range(70)
    ]
    other = {"url": "http://other.test/", "manifest": {"profile": "p1"}}
    elsewhere = queue.enqueue("visit", other)

    assert closed_now(database)["route:profile:p1@shop.test"].reason == COOLS
    assert "profile:p1" not in closed_now(database)
    claim = worker.claim()

    assert claim.job_id == elsewhere
    finish(worker, claim)
    told = why(database, queue.get(waiting[0]))
    assert told.startswith(f"job {waiting[0]} waits because {COOLS}; next look in ")
    assert all(queue.get(job)["attempts"] == 0 for job in waiting)
    proxies.enable(database, "berlin")
    assert worker.claim_now().job_id == waiting[0]


def test_the_gate_refuses_what_it_was_not_told_of_and_only_that(
    database, worker, queue, add, blocked_at_shop
):
    add("p1", proxy="berlin")
    refused = queue.enqueue("visit", {"url": "http://shop.test/", "manifest": {"profile": "p1"}})
    other = {"url": "http://other.test/", "manifest": {"profile": "p1"}}
    elsewhere = queue.enqueue("visit", other)
    worker.closures._read_at = float("inf")

    assert worker.claim().job_id == elsewhere
    assert queue.get(refused)["wait_reason"] == COOLS
    assert "proxy_not_ready" in events(database)


def test_an_accounts_profiles_wait_only_for_the_site_that_blocked_their_proxy(
    database, worker, queue, add, blocked_at_shop
):
    proxies.add(database, replace(Proxy.parse("http://127.0.0.1:2"), name="spare"))
    add("p1", account_id="a1", proxy="berlin")
    for _ in range(70):
        queue.enqueue("visit", {"url": "http://shop.test/", "manifest": {"account": "a1"}})
    other = {"url": "http://other.test/", "manifest": {"account": "a1"}}
    elsewhere = queue.enqueue("visit", other)

    assert worker.claim().job_id == elsewhere


def test_a_vendors_full_plan_closes_its_other_profiles_at_once(database, worker, enqueue, add):
    add("p1", "p2", "p3", provider="kameleo")
    add("q1")
    limits.set_limit(database, "vendor:kameleo", concurrent=1, per_minute=None, by="me")
    for name in ("p1", "p2", "p3", "q1"):
        enqueue(name)
    worker.claim()

    assert worker.claim_now().profile_id == "q1"
    assert {"profile:p2", "profile:p3"} <= set(closed_now(database))
    assert "vendor:kameleo" in closed_now(database)["profile:p2"].reason


def test_a_job_of_an_account_is_the_canary_of_its_profiles_breaker(database, worker, enqueue, add):
    add("p1", account_id="a1")
    enqueue(account="a1")
    breakers.open_by_hand(database, "profile:p1", 3600, "blocks", "me")
    assert worker.claim() is None
    database.run_statement("UPDATE breakers SET until = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND")

    claim = worker.claim_now()

    assert claim.canary == "profile:p1"
    worker.gate.succeeded(claim)
    assert database.fetch_one("get_breaker", name="profile:p1")["state"] == "closed"


@pytest.mark.parametrize("set_to", ["review_required", "quarantined"])
def test_a_person_may_look_at_what_is_set_aside_and_it_stays_so(
    database, worker, enqueue, add, set_to
):
    add("p1", account_id="a1")
    enqueue("p1")
    store.set_state(database, "p1", State(set_to), reason="strange", by="me")
    store.pause_account(database, "a1", reason="captcha", by="me")

    assert store.check_out(database, "p1", person="ada", seconds=60, reason="") == 1

    assert state(database) == set_to
    store.give_back(database, "p1", by="ada")
    assert state(database) == set_to
    assert worker.claim() is None


def test_a_disabled_profile_is_given_to_nobody(database, add):
    add("p1")
    store.set_state(database, "p1", State.DISABLED, reason="gone", by="me")

    with pytest.raises(UsageError, match="profile p1 is disabled: gone; nothing was checked out"):
        store.check_out(database, "p1", person="ada", seconds=60, reason="")
