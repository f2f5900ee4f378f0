"""Which claims are void is known for certain, or not said."""

from __future__ import annotations

import pytest

from worker.history import cancelling
from worker.history.archive import Label
from worker.queue import withdrawn

LABEL = Label("me", "cancelled by me")


@pytest.fixture
def claim(queue, claim_as):
    queue.enqueue("visit", {})
    return claim_as()


@pytest.fixture
def is_void(database, claim):
    return lambda: bool(withdrawn.find(database, [(claim.job_id, claim.fence)]))


def test_a_claim_that_holds_is_not_void(is_void):
    assert not is_void()


def test_a_cancelled_job_is(database, claim, is_void):
    cancelling.cancel(database, [claim.job_id], LABEL, running=True)

    assert is_void()


def test_a_job_that_came_back_is_and_so_is_one_that_is_somebody_elses(
    database, claim, is_void, claim_as
):
    cancelling.cancel(database, [claim.job_id], LABEL, running=True)
    assert list(cancelling.bring_back(database, [claim.job_id])) == [(claim.job_id, True)]
    assert is_void()

    again = claim_as()
    assert is_void()
    assert withdrawn.find(database, [(again.job_id, again.fence)]) == []


def test_a_server_that_has_not_got_the_claim_or_the_job_yet_proves_nothing(database, claim):
    behind = [(claim.job_id, claim.fence + 1), (claim.job_id + 1, 1)]

    assert withdrawn.find(database, behind) == []


def test_what_was_archived_before_this_claim_proves_nothing(database, claim, is_void):
    cancelling.cancel(database, [claim.job_id], LABEL, running=True)

    assert withdrawn.find(database, [(claim.job_id, claim.fence + 1)]) == []


def test_nothing_is_asked_where_nobody_is_at_work(database):
    assert withdrawn.find(database, []) == []
