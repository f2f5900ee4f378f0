"""How holds on profiles end when two things happen at once, or one thing happens twice."""

from __future__ import annotations

import threading

import pytest

from tests.integration.gate_worker import Worker
from tests.integration.profile_fixtures import closed_now, events, state
from worker.database.client import Database
from worker.errors import ProviderError, StaleServer
from worker.history.todo import everything
from worker.profiles import caretaker, lease_endings, leases, stop_tries, store
from worker.profiles.states import State
from worker.recovery.sweep import sweep_leases

EXPIRE = "UPDATE profile_leases SET expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND"


class RenewedMeanwhile(Database):
    """A connection on which every lease is renewed just after the expired ones were read."""

    def fetch_all(self, name, /, conditions=(), **params):
        rows = super().fetch_all(name, conditions, **params)
        if name == "expired_leases":
            leases.renew(self, [1000], 60.0)
        return rows


class BrokenAfterCommit(Database):
    """A connection whose first commit is never heard of again."""

    has_broken = False

    def transaction(self, work):
        if not self.has_broken:
            self.has_broken = True
            super().transaction(work)
        return super().transaction(work)


def do_nothing(spec: object) -> None:
    """Stop what does not run."""


def refuse(spec: object) -> None:
    raise ProviderError("the vendor is deaf", provider="kameleo", kind="refused")


def test_a_lease_renewed_after_it_was_read_as_expired_is_not_swept(database, worker, enqueue, add):
    add("p1")
    enqueue("p1")
    worker.claim()
    database.run_statement(EXPIRE)

    assert sweep_leases(RenewedMeanwhile(database.settings)) == []

    assert state(database) == "leased"


def test_a_claim_whose_commit_was_not_heard_of_is_found_again(database, enqueue, add):
    add("p1")
    job = enqueue("p1")
    worker = Worker(database.settings)
    worker.gate = type(worker.gate)(
        BrokenAfterCommit(database.settings), worker.queue, worker.closures, canary_seconds=60.0
    )

    claim = worker.claim()
    worker.close()

    assert claim is not None
    assert (claim.job_id, claim.profile_id, claim.lease_fence) == (job, "p1", 1)


def test_an_account_passes_over_profiles_that_do_not_allow_the_task(worker, enqueue, add):
    add("p1", account_id="a1", allowed_actions=("checkout",))
    add("p2", account_id="a1")
    enqueue(account="a1")
    enqueue(account="a1", actions=["refund", "checkout"])

    claim = worker.claim()
    assert claim.profile_id == "p2"


def test_a_stale_profile_is_not_checked_while_another_holds_it(
    database, worker, other, enqueue, add
):
    add("p1", max_active_runs=2)
    enqueue("p1")
    enqueue("p1")
    worker.claim()
    living = other.claim_now()
    lease_endings.end_of_the_dead(database, worker.owner.incarnation, "killed")

    assert caretaker.check_stale(database, refuse, "w") == 0
    lease_endings.release(database, "p1", living.lease_fence, author="w", reason="done")
    assert state(database) == "stale"

    assert caretaker.check_stale(database, do_nothing, "w") == 1
    assert state(database) == "available"


def test_the_doubts_about_a_second_dead_holder_count_too(database, worker, other, enqueue, add):
    add("p1", max_active_runs=2)
    enqueue("p1")
    enqueue("p1")
    worker.claim()
    second = other.claim_now()
    leases.note_step(database, "p1", second.lease_fence, "submitting order", "http://x/")

    lease_endings.end_of_the_dead(database, worker.owner.incarnation, "killed")
    lease_endings.end_of_the_dead(database, other.owner.incarnation, "killed")

    assert state(database) == "quarantined"


def test_a_profile_that_cannot_be_stopped_is_tried_again_at_longer_intervals(
    database, worker, enqueue, add
):
    add("p1")
    enqueue("p1")
    worker.claim()
    lease_endings.end_of_the_dead(database, worker.owner.incarnation, "killed")
    waits, asked = [], []

    def deaf(spec: object) -> None:
        asked.append(spec)
        refuse(spec)

    for _ in range(stop_tries.PATIENT_TRIES):
        assert closed_now(database)["profile:p1"].seconds is not None
        caretaker.check_stale(database, deaf, "w")
        # Not yet time for the next.
        caretaker.check_stale(database, deaf, "w")
        profile = store.get(database, "p1")
        waits.append(stop_tries.wait_seconds(profile["stop_tries"]))
        database.run_statement("UPDATE profiles SET next_stop_at = UTC_TIMESTAMP(6)")

    assert len(asked) == stop_tries.PATIENT_TRIES
    assert waits == [5.0, 10.0, 20.0, 40.0, 80.0]
    assert (profile["state"], profile["state_reason"]) == (
        "stale",
        "its browser may still run: the vendor is deaf",
    )
    assert events(database).count("not_stopped") == 1
    # A drain waits no longer, and a person is asked; the caretaker still tries.
    assert closed_now(database)["profile:p1"].seconds is None
    assert ("p1", "profile") in {(item.name, item.kind) for item in everything(database).items}
    assert caretaker.check_stale(database, do_nothing, "w") == 1
    profile = store.get(database, "p1")
    assert (profile["state"], profile["stop_tries"], profile["next_stop_at"]) == (
        "available",
        0,
        None,
    )


def test_a_person_may_clear_a_profile_whose_browser_could_not_be_stopped(
    database, worker, enqueue, add
):
    add("p1")
    enqueue("p1")
    claim = worker.claim()
    lease_endings.release(
        database, "p1", claim.lease_fence, author="w", reason="done", left_running="it hangs"
    )
    assert store.get(database, "p1")["state_reason"] == "its browser may still run: it hangs"
    assert events(database)[-2:] == ["released", "not_stopped"]

    store.set_state(database, "p1", State.AVAILABLE, reason="closed it by hand", by="me")

    assert (state(database), store.get(database, "p1")["stop_tries"]) == ("available", 0)


def test_what_was_ended_is_named_in_log_and_event(database, worker, enqueue, add, caplog):
    add("p1")
    enqueue("p1")
    worker.claim()
    lease_endings.end_of_the_dead(database, worker.owner.incarnation, "killed")

    assert caretaker.check_stale(database, lambda spec: "ended process 4711", "w") == 1

    assert "profile p1: ended process 4711, which its last holder left running" in caplog.text
    (last, *_) = store.history(database, "p1", 1)
    assert last["reason"] == "ended process 4711; nothing of its last holder is left"


@pytest.mark.parametrize(("stop", "event"), [(do_nothing, "stopped"), (refuse, "not_stopped")])
def test_the_browser_of_a_profile_set_aside_is_stopped_and_it_stays_so(
    database, worker, enqueue, add, stop, event
):
    add("p1")
    enqueue("p1")
    claim = worker.claim()
    leases.note_step(database, "p1", claim.lease_fence, "submitting order", "http://x/")
    lease_endings.end_of_the_dead(database, worker.owner.incarnation, "killed")

    for _ in range(2):
        assert caretaker.check_stale(database, stop, "w") == 0
        database.run_statement("UPDATE profiles SET next_stop_at = NULL")

    assert events(database)[-3:] == ["stale", "doubted", event]
    assert State(state(database)) is State.QUARANTINED


def test_a_lease_that_the_server_has_not_got_yet_is_waited_for(
    database, connect, worker, enqueue, add
):
    add("p1")
    enqueue("p1")
    fence = worker.claim().lease_fence
    (lease,) = leases.of_profile(database, "p1")
    database.run_statement("DELETE FROM profile_leases")
    database.run_statement("UPDATE profiles SET fence = fence - 1")

    with pytest.raises(StaleServer):
        lease_endings.release(database, "p1", fence, author="w", reason="done")
    assert state(database) == "leased"

    late = threading.Timer(0.5, give_back, (connect(), lease))
    late.start()
    patient = connect(patience_seconds=20)
    lease_endings.release(patient, "p1", fence, author="w", reason="done")
    late.join()
    assert state(database) == "available"


def give_back(db: Database, lease) -> None:
    """Apply what another member has committed, as replication does."""
    db.run_statement("BEGIN")
    db.run_statement("UPDATE profiles SET fence = fence + 1")
    kept = {key: value for key, value in lease.items() if key != "left_seconds"}
    names, values = ", ".join(kept), ", ".join(f"%({key})s" for key in kept)
    db.run_statement(f"INSERT INTO profile_leases ({names}) VALUES ({values})", kept)
    db.run_statement("COMMIT")
