"""A local profile belongs to one host: others leave its jobs alone, and it can be handed over."""

from __future__ import annotations

import pytest

from tests.integration.profile_fixtures import closed_now, events, state
from worker.claiming import held_back
from worker.claiming.drain import Drain
from worker.errors import ProviderError, UsageError
from worker.models import Partition
from worker.profiles import caretaker, hosts, lease_endings, leases, store
from worker.system.identity import HOST_VARIABLE, this_host


@pytest.fixture
def at(monkeypatch):
    """Be on a host of that name."""

    def at(name: str) -> None:
        monkeypatch.setenv(HOST_VARIABLE, name)

    at("night-1")
    return at


def refuse(spec: object) -> None:
    raise ProviderError("deaf", provider="local", kind="refused")


def test_a_host_that_is_named_by_hand_is_known_by_that_alone(at, monkeypatch):
    at("night-7")
    assert (this_host().name, this_host().id) == ("night-7", "")

    monkeypatch.delenv(HOST_VARIABLE)
    assert this_host().name
    assert this_host().name != "night-7"


def test_a_job_is_left_to_the_host_of_its_profile(database, worker, enqueue, add, at, queue):
    add("p1")
    job = enqueue("p1")
    at("night-2")

    assert worker.claim_now() is None

    assert queue.get(job)["attempts"] == 0
    closed = closed_now(database)["profile:p1"]
    assert (closed.reason, closed.seconds) == ("profile p1 lives on night-1", None)
    (found,) = held_back.count(database)
    assert (found.jobs, found.reason) == (1, "profile p1 lives on night-1")
    drain = Drain(
        worker.db,
        Partition(0, 1),
        worker.closures,
        worker.candidates,
        help_others=True,
        wait_seconds=900.0,
    )
    assert drain.is_over()
    at("night-1")
    assert worker.claim_now().job_id == job


@pytest.mark.parametrize("how", ["busy", "stale"])
def test_another_host_does_not_wait_for_what_only_its_own_can_free(
    database, worker, enqueue, add, at, how
):
    add("p1")
    enqueue("p1")
    enqueue("p1", on_conflict="skip")
    claim = worker.claim()
    if how == "stale":
        lease_endings.end_unexplained(
            database, "p1", claim.lease_fence, author="sweep", reason="it died"
        )
        assert closed_now(database)["profile:p1"].seconds is not None
    at("night-2")

    assert closed_now(database)["profile:p1"].seconds is None
    # Nor is its job skipped there because the profile is busy here.
    assert worker.claim_now() is None


def test_an_account_has_the_profile_that_lives_here(database, worker, enqueue, add, at):
    add("p1", account_id="ada")
    at("night-2")
    enqueue(account="ada")
    assert worker.claim_now() is None
    reason = "no profile of account ada is ready: profile p1 lives on night-1"
    assert closed_now(database)["account:ada"].reason == reason

    add("p2", account_id="ada")

    assert worker.claim_now().profile_id == "p2"


def test_a_clone_with_the_same_machine_id_is_another_host(database, add, monkeypatch):
    monkeypatch.delenv(HOST_VARIABLE, raising=False)
    add("p1")
    profile = store.get(database, "p1")
    assert hosts.is_here(profile)

    assert hosts.elsewhere({**profile, "host": "the-clone"}) == "profile p1 lives on the-clone"
    same_name = hosts.elsewhere({**profile, "host_id": "another"})
    assert same_name == f"profile p1 lives on another machine of the name {this_host().name}"


def test_only_its_own_host_checks_a_stale_local_profile(database, worker, enqueue, add, at):
    add("p1")
    enqueue("p1")
    claim = worker.claim()
    lease_endings.end_unexplained(
        database, "p1", claim.lease_fence, author="sweep", reason="it died"
    )
    at("night-2")
    assert caretaker.check_stale(database, refuse, "w") == 0
    assert store.get(database, "p1")["stop_tries"] == 0

    at("night-1")
    assert caretaker.check_stale(database, lambda spec: None, "w") == 1


def test_a_vendors_profile_lives_nowhere_in_particular(database, worker, enqueue, add, at):
    add("k1", provider="kameleo", vendor_id="v-1")
    enqueue("k1")
    at("night-2")

    assert worker.claim_now().profile_id == "k1"


@pytest.fixture
def unsettled(database, add, at, tmp_path):
    """A profile from before hosts were kept."""

    def unsettled(*, was_used: bool, folder) -> None:
        add("p1", folder=folder)
        database.run_statement(
            "UPDATE profiles SET host = NULL, host_id = NULL, fence = %(fence)s",
            {"fence": 3 if was_used else 0},
        )

    return unsettled


def test_an_old_profile_belongs_to_the_first_host_that_opens_it(
    database, worker, enqueue, unsettled, at, tmp_path
):
    unsettled(was_used=True, folder=tmp_path)
    enqueue("p1")
    at("night-3")

    assert worker.claim_now() is not None
    hosts.adopt(database, store.get(database, "p1"), by="worker 0")
    hosts.adopt(database, store.get(database, "p1"), by="worker 0")

    assert store.get(database, "p1")["host"] == "night-3"
    assert events(database).count("adopted") == 1


def test_an_old_profile_is_left_to_the_host_that_has_its_folder(
    database, worker, enqueue, unsettled, tmp_path
):
    unsettled(was_used=True, folder=tmp_path / "not-here")
    enqueue("p1")

    assert worker.claim_now() is None

    assert "is not on night-1" in closed_now(database)["profile:p1"].reason
    hosts.move(database, "p1", None, by="me")
    assert worker.claim_now() is not None


def test_a_profile_is_handed_over_by_name_and_taken_by_the_first_of_it(
    database, worker, enqueue, add, at
):
    add("p1")
    enqueue("p1")

    hosts.move(database, "p1", "night-2", by="me")

    assert worker.claim_now() is None
    assert events(database)[-1] == "moved"
    assert store.history(database, "p1", 1)[0]["reason"] == "night-1 → night-2"
    assert store.get(database, "p1")["host_id"] is None
    at("night-2")
    assert worker.claim_now() is not None


def test_what_is_held_stale_or_a_vendors_is_not_moved(database, worker, enqueue, add, at):
    add("p1")
    add("k1", provider="kameleo", vendor_id="v-1")
    enqueue("p1")
    claim = worker.claim()
    with pytest.raises(UsageError, match="in use by worker 0"):
        hosts.move(database, "p1", "night-2", by="me")
    leases.note_step(database, "p1", claim.lease_fence, "submitting order", "https://a.example/")
    lease_endings.end_unexplained(
        database, "p1", claim.lease_fence, author="sweep", reason="it died"
    )
    assert state(database) == "quarantined"
    with pytest.raises(UsageError, match="may still run on night-1"):
        hosts.move(database, "p1", "night-2", by="me")
    with pytest.raises(UsageError, match="no folder of a host"):
        hosts.move(database, "k1", "night-2", by="me")

    assert store.get(database, "p1")["host"] == "night-1"
    caretaker.check_stale(database, lambda spec: None, "w")
    hosts.move(database, "p1", "night-2", by="me")
