"""While a command holds a profile for an errand no job gets it; afterwards it is free again."""

from __future__ import annotations

import pytest

from tests.integration.profile_fixtures import state
from worker.errors import LeaseLost, UsageError
from worker.profiles import errands, lease_endings, store
from worker.profiles.errands import errand


def test_no_job_runs_in_the_profile_meanwhile(database, worker, add, enqueue):
    add("p1")
    job = enqueue("p1")

    with errand(database, "p1", by="me", reason="backup"):
        assert worker.claim_now() is None
        with pytest.raises(UsageError, match="in use"):
            store.check_out(database, "p1", person="bob", seconds=9, reason="")

    assert worker.claim_now().job_id == job


def test_a_profile_is_given_back_also_when_the_errand_fails(database, add):
    add("p1")

    with pytest.raises(OSError, match="disk"), errand(database, "p1", by="me", reason="backup"):
        raise OSError("disk full")

    assert state(database) == "available"


def test_a_job_that_holds_the_profile_is_named(database, worker, add, enqueue):
    add("p1")
    enqueue("p1")
    worker.claim_now()

    with pytest.raises(UsageError, match=r"in use by worker 0 .*; nothing was restored: wait"):
        errands.require_free(database, "p1", "restored")


def test_a_hold_that_somebody_has_ended_is_noticed(database, add):
    add("p1")
    fence = store.check_out(database, "p1", person="me", seconds=9, reason="restore")
    errands.require_held(database, "p1", fence)
    lease_endings.release(database, "p1", fence, author="bob", reason="returned")

    with pytest.raises(LeaseLost):
        errands.require_held(database, "p1", fence)
