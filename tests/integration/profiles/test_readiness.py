"""Profiles that are not ready: their jobs wait, cost nothing, and hold up nobody else."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.integration.profile_fixtures import closed_now, events, finish
from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.why import sentence_about
from worker.errors import UsageError
from worker.guards import breakers, limits
from worker.models import Ending, Outcome
from worker.profiles import lease_endings, store
from worker.profiles.manifest import Manifest
from worker.profiles.resolution import look
from worker.profiles.states import State
from worker.proxies import choice
from worker.proxies import store as proxies
from worker.proxies.proxy import Proxy

COOLS = "proxy berlin of profile p1 cools down at shop.test after a block"


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


def test_a_pause_that_is_news_to_a_worker_is_found_out_once_for_a_profile(
    database, worker, enqueue, add, clock
):
    add("p1", account_id="a1")
    enqueue("p1")
    enqueue(account="a1")
    worker.closures.refresh()
    store.pause_account(database, "a1", reason="captcha", by="me")

    assert worker.claim() is None

    assert {"profile:p1", "account:a1"} <= set(worker.closures.closed)


def test_a_vendors_plan_caps_its_profiles(database, worker, enqueue, add):
    add("p1", "p2", "p3", provider="kameleo")
    limits.set_limit(database, "vendor:kameleo", concurrent=2, per_minute=None, by="me")
    for name in ("p1", "p2", "p3"):
        enqueue(name)

    claims = [worker.claim_now() for _ in range(3)]

    assert [claim is not None for claim in claims] == [True, True, False]
    # Written in the claims' own transactions, so that members of a cluster see the conflict.
    assert database.run_statement("SELECT starts FROM limits") == [{"starts": 2}]


def test_many_closed_profiles_are_told_with_their_reasons(database, add):
    add(*(f"p{i}" for i in range(30)))
    for i in range(20):
        store.set_state(database, f"p{i}", State.QUARANTINED, reason=f"case {i}", by="me")
    closures = ClosedKeys(database)
    closures.refresh()

    assert len(closures.closed) == 20
    assert closures.closed["profile:p7"].reason == "profile p7 is quarantined: case 7"
    assert json.dumps(sorted(closures.conditions()[1]["closed_profiles"])).count("p") == 20


def _lease(database, worker) -> None:
    assert worker.claim_now() is not None


def _expire(database, worker) -> None:
    fence = worker.claim_now().lease_fence
    lease_endings.end_unexplained(database, "p1", fence, author="sweep", reason="expired")


def _quarantine(database, worker) -> None:
    store.set_state(database, "p1", State.QUARANTINED, reason="strange", by="me")


def _pause(database, worker) -> None:
    store.pause_account(database, "a1", reason="holiday", by="me")


def _disable_proxy(database, worker) -> None:
    proxies.disable(database, "berlin")


def _cap_vendor(database, worker) -> None:
    limits.set_limit(database, "vendor:local", concurrent=0, per_minute=None, by="me")


@pytest.mark.parametrize(
    "spoil", [_lease, _expire, _quarantine, _pause, _disable_proxy, _cap_vendor]
)
def test_searches_and_the_gate_say_the_same_of_a_profile_that_is_not_ready(
    database, worker, enqueue, add, spoil
):
    proxies.add(database, Proxy("http", "h.example", 1, name="berlin"))
    add("p1", account_id="a1", proxy="berlin")
    enqueue("p1")
    spoil(database, worker)

    closed = closed_now(database)

    assert closed["profile:p1"] == look(database, Manifest(profile="p1")).closed_key
    assert closed["account:a1"] == look(database, Manifest(account="a1")).closed_key


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
    choice.note_block(database, number, reason="a challenge", site="shop.test")


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
    told = sentence_about(database, queue.get(waiting[0]))
    assert told.startswith(f"job {waiting[0]} waits because {COOLS}; next check in ")
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
    worker.gate.tell(claim, Ending(Outcome.DONE))
    assert breakers.all_breakers(database)[0][0]["state"] == "closed"


def test_a_profile_that_says_nothing_of_a_proxy_is_not_ready_once_there_is_one(
    database, worker, enqueue, add
):
    add("p1", account_id="a1")
    add("p2", proxy="none")
    assert closed_now(database) == {}
    proxies.add(database, Proxy("http", "h.example", 1, name="berlin"))
    job, direct = enqueue("p1"), enqueue("p2")
    enqueue(account="a1")

    closed = closed_now(database)

    assert set(closed) == {"profile:p1", "account:a1"}
    assert "says neither which proxy it uses" in closed["profile:p1"].reason
    assert closed["profile:p1"].seconds is None
    assert worker.claim_now().job_id == direct
    told = sentence_about(database, worker.queue.get(job))
    assert "launcher.py profiles set p1 --proxy NAME (or none)" in told
    database.run_statement("UPDATE profiles SET proxy = 'berlin'")
    assert worker.claim_now().job_id == job


def test_a_proxy_that_is_news_to_a_worker_is_an_event_of_the_profile(
    database, worker, enqueue, add, clock
):
    add("p1")
    job = enqueue("p1")
    worker.closures.refresh()
    proxies.add(database, Proxy("http", "h.example", 1, name="berlin"))

    assert worker.claim() is None

    assert events(database) == ["added", "proxy_not_chosen"]
    row = worker.queue.get(job)
    assert (row["attempts"], row["status"]) == (0, "pending")
    assert "says neither which proxy it uses" in row["wait_reason"]
