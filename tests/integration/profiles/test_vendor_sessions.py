"""The name of what a vendor has started is kept under the lease, and stops it after a death."""

from __future__ import annotations

import pytest

from tests.integration.profile_fixtures import state
from worker.browser.providers.spec import ProfileSpec
from worker.errors import LeaseLost, ProviderError
from worker.profiles import caretaker, lease_endings, store, vendor_sessions
from worker.profiles.specs import spec_to_stop
from worker.recovery.sweep import sweep_leases

EXPIRE = "UPDATE profile_leases SET expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND"


@pytest.fixture
def claim(worker, add, enqueue):
    add("p1", provider="browserbase", vendor_id="context-1")
    enqueue("p1")
    return worker.claim()


def spec_of(database, fence: int) -> ProfileSpec:
    spec = spec_to_stop(store.get(database, "p1"))
    return vendor_sessions.kept_with(database, spec, fence)


def session(database) -> str | None:
    return store.get(database, "p1")["vendor_session"]


def test_a_session_is_kept_and_forgotten_by_its_holder(database, claim):
    spec = spec_of(database, claim.lease_fence)
    spec.keep_session("s-1")
    assert session(database) == "s-1"
    # As after a connection that broke when it was written.
    spec.keep_session("s-1")

    spec.forget_session()
    assert session(database) is None


def test_whoever_has_lost_the_lease_keeps_nothing(database, claim):
    with pytest.raises(LeaseLost):
        spec_of(database, claim.lease_fence - 1).keep_session("s-old")

    assert session(database) is None


def test_another_session_is_not_forgotten_in_its_place(database, claim):
    late = spec_of(database, claim.lease_fence)
    late.keep_session("s-1")
    spec_of(database, claim.lease_fence).keep_session("s-2")

    late.forget_session()

    assert session(database) == "s-2"


def test_the_session_of_a_dead_worker_is_stopped_by_its_name(database, claim):
    spec_of(database, claim.lease_fence).keep_session("s-1")
    database.run_statement(EXPIRE)
    sweep_leases(database)
    assert (state(database), session(database)) == ("stale", "s-1")
    stopped = []

    def fail(spec: ProfileSpec) -> str:
        raise ProviderError("no answer", provider="browserbase", kind="unreachable")

    def stop(spec: ProfileSpec) -> str:
        stopped.append(spec.session)
        spec.forget_session()
        return "Browserbase has stopped its browser"

    assert caretaker.check_stale(database, fail, "w") == 0
    assert (state(database), session(database)) == ("stale", "s-1")
    database.run_statement("UPDATE profiles SET next_stop_at = NULL")

    assert caretaker.check_stale(database, stop, "w") == 1
    assert (stopped, session(database), state(database)) == (["s-1"], None, "available")


def test_a_session_that_may_run_on_stays_known_when_its_lease_ends(database, claim):
    spec_of(database, claim.lease_fence).keep_session("s-1")

    lease_endings.release(
        database, "p1", claim.lease_fence, author="w", reason="x", left_running="it may"
    )

    assert (state(database), session(database)) == ("stale", "s-1")
