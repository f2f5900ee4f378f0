"""Holds on profiles: under a fence, ended with an explanation, never silently available."""

from __future__ import annotations

from contextlib import closing

import pytest

from tests.integration.profile_fixtures import events, finish, state
from worker.database.client import Database
from worker.errors import LeaseLost, UsageError
from worker.profiles import caretaker, lease_endings, leases, store
from worker.profiles.states import State
from worker.recovery.sweep import sweep_leases


def test_an_old_fence_is_refused(database, worker, enqueue, add):
    add("p1")
    enqueue("p1")
    claim = worker.claim()
    assert lease_endings.end_unexplained(database, "p1", 1, author="sweep", reason="expired")
    assert not lease_endings.end_unexplained(database, "p1", 1, author="sweep", reason="expired")

    with pytest.raises(LeaseLost):
        lease_endings.release(database, "p1", claim.lease_fence, author="w", reason="late")

    assert state(database) == "stale"


def test_the_death_of_a_holder_makes_a_profile_stale_and_a_check_available(
    database, worker, enqueue, add
):
    add("p1")
    enqueue("p1")
    worker.claim()

    assert lease_endings.end_of_the_dead(database, worker.owner.incarnation, "SIGKILL") == ["p1"]

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
    lease_endings.end_of_the_dead(database, worker.owner.incarnation, "SIGKILL")
    refused = []

    def stop(spec: object) -> None:
        with closing(Database(database.settings)) as db:
            for take in (
                lambda: store.set_state(db, "p1", State.AVAILABLE, reason="well", by="me"),
                lambda: store.check_out(db, "p1", person="ada", seconds=60, reason=""),
            ):
                with pytest.raises(UsageError, match="is being checked right now") as refusal:
                    take()
                refused.append(refusal)

    assert caretaker.check_stale(database, stop, "w") == 1
    assert len(refused) == 2
    store.check_out(database, "p1", person="ada", seconds=60, reason="")


def test_a_profile_whose_browser_cannot_be_stopped_stays_stale(database, worker, enqueue, add):
    add("p1")
    enqueue("p1")
    worker.claim()
    lease_endings.end_of_the_dead(database, worker.owner.incarnation, "SIGKILL")

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

    lease_endings.end_of_the_dead(database, worker.owner.incarnation, "SIGKILL")

    assert state(database) == expected
    assert "stale" in events(database)


def test_a_changed_proxy_and_a_wanted_review_lead_to_a_review(database, worker, enqueue, add):
    add("p1", "p2", "p3")
    for name in ("p1", "p2", "p3"):
        enqueue(name)
    claims = {claim.profile_id: claim for claim in (worker.claim() for _ in range(3))}
    database.run_statement("UPDATE profiles SET proxy = 'berlin' WHERE id = 'p1'")
    leases.want_review(database, "p2", claims["p2"].lease_fence, "security prompt")

    lease_endings.end_of_the_dead(database, worker.owner.incarnation, "SIGKILL")
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
    assert sweep_leases(database) == []
    database.run_statement("UPDATE profile_leases SET expires_at = expires_at - INTERVAL 1 HOUR")

    assert [name for name, _ in sweep_leases(database)] == ["p1"]

    assert state(database) == "stale"


def test_living_workers_leases_are_renewed_together(database, worker, enqueue, add):
    add("p1")
    enqueue("p1")
    worker.claim()
    database.run_statement("UPDATE profile_leases SET expires_at = expires_at - INTERVAL 1 HOUR")

    assert leases.renew(database, [worker.owner.incarnation], 60.0) == 1

    assert sweep_leases(database) == []


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


def test_a_shared_profile_is_checked_only_when_its_other_holders_have_let_go(
    database, worker, other, enqueue, add
):
    add("p1", max_active_runs=2)
    enqueue("p1")
    enqueue("p1")
    worker.claim()
    alive = other.claim()
    lease_endings.end_of_the_dead(database, worker.owner.incarnation, "SIGKILL")
    stopped: list[object] = []

    assert caretaker.check_stale(database, stopped.append, "w") == 0
    assert stopped == []
    finish(other, alive)
    assert state(database) == "stale"
    assert caretaker.check_stale(database, stopped.append, "w") == 1
    assert state(database) == "available"


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
