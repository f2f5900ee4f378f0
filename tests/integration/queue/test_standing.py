"""Invariant 1 in a cluster: a lower fence is a server that lags, and only a higher one is a loss.

The lagging member is this server, to which a thread applies the claim late, as replication does.
"""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from tests.conftest import QueueForTests, because
from worker.database import freshness
from worker.errors import ClaimLost, StaleServer
from worker.queue import irreversible

ENDINGS = {
    "finish": lambda queue, claim: queue.complete(claim, {}),
    "fail": lambda queue, claim: queue.fail(claim, because("broken")),
    "hand_back": lambda queue, claim: queue.hand_back(claim, because("stopped")),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_outcome_waits_for_a_server_that_has_not_got_the_claim(
    connect, queue, unapplied, apply_late, ending
):
    ENDINGS[ending](QueueForTests(connect(patience_seconds=20)), unapplied)

    assert queue.get(unapplied.job_id)["fence"] == unapplied.fence
    assert queue.get(unapplied.job_id)["status"] != "in_progress"


def test_without_patience_a_lagging_server_is_absent_and_no_claim_is_lost(queue, unapplied):
    with pytest.raises(StaleServer, match="lags behind"):
        queue.complete(unapplied, {})

    assert queue.get(unapplied.job_id)["status"] == "pending"


def test_a_server_that_never_gets_the_claim_has_lost_it(connect, queue, unapplied, monkeypatch):
    monkeypatch.setattr(freshness.prevails, "__kwdefaults__", {"stale_seconds": 0.3})

    with pytest.raises(ClaimLost):
        QueueForTests(connect(patience_seconds=20)).complete(unapplied, {})


def test_a_higher_fence_is_a_loss_at_once(connect, queue, unapplied, claim_as):
    stale = replace(unapplied, fence=0)
    claim_as()
    began = time.monotonic()

    with pytest.raises(ClaimLost):
        QueueForTests(connect(patience_seconds=60)).complete(stale, {})

    assert time.monotonic() - began < 5


def test_an_irreversible_step_is_begun_once_the_server_has_the_claim(
    connect, queue, unapplied, apply_late
):
    irreversible.begin(connect(patience_seconds=20), unapplied, "pay")

    assert queue.get(unapplied.job_id)["irreversible_step"] == "pay"
