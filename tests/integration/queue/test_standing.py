"""Invariant 1 in a cluster: a lower fence is a server that lags, and only a higher one is a loss.

The lagging member is this server, to which a thread applies the claim late, as replication does.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import replace

import pytest

from tests.conftest import QueueForTests, because
from worker.database import freshness
from worker.errors import ClaimLost, StaleServer
from worker.models import Ending, Outcome, Owner
from worker.queue import irreversible, journal
from worker.queue.outcome_writer import OutcomeWriter

LAG_SECONDS = 0.6
ENDINGS = {
    "finish": lambda queue, claim: queue.complete(claim, {}),
    "fail": lambda queue, claim: queue.fail(claim, because("broken")),
    "hand_back": lambda queue, claim: queue.hand_back(claim, because("stopped")),
}
NOT_YET = (
    "UPDATE work_queue SET status = 'pending', fence = fence - 1, attempts = attempts - 1, "
    "incarnation = NULL, lease_until = NULL, started_at = NULL"
)


@pytest.fixture
def unapplied(database, queue, claim_as):
    """A claim that another member has committed, and this one has not got yet."""
    queue.enqueue("visit", {})
    claim = claim_as()
    database.run_statement(NOT_YET)
    return claim


@pytest.fixture
def apply_late(connect, unapplied):
    """Have this member apply the claim in a moment."""
    db = connect()

    def apply() -> None:
        time.sleep(LAG_SECONDS)
        db.run_statement(
            "UPDATE work_queue SET status = 'in_progress', fence = %(fence)s, attempts = 1, "
            "incarnation = %(incarnation)s, started_at = UTC_TIMESTAMP(6), "
            "lease_until = UTC_TIMESTAMP(6) + INTERVAL 60 SECOND",
            {"fence": unapplied.fence, "incarnation": unapplied.incarnation},
        )

    thread = threading.Thread(target=apply)
    thread.start()
    yield
    thread.join()


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


def test_a_finish_with_the_next_claim_waits_as_well(
    connect, queue, unapplied, apply_late, tmp_path
):
    db = connect(patience_seconds=20)
    owner = Owner(0, unapplied.incarnation)
    writer = OutcomeWriter(db, QueueForTests(db), tmp_path, owner)

    written = writer.write(unapplied, Ending(Outcome.DONE, result="{}"))

    assert written.settlement is not None
    assert queue.get(unapplied.job_id)["status"] == "done"
    assert list(tmp_path.iterdir()) == []


def test_an_outcome_in_the_journal_is_kept_for_a_server_that_lags(queue, unapplied, tmp_path):
    journal.write(tmp_path, 1, unapplied, Ending(Outcome.DONE, result="{}"))
    ((_, entry),) = journal.read(tmp_path)

    assert journal.replay(queue, entry) is None
    assert entry.path.exists()


def test_an_outcome_whose_claim_no_server_has_is_dropped_after_a_while(
    queue, unapplied, tmp_path, caplog
):
    path = journal.write(tmp_path, 1, unapplied, Ending(Outcome.DONE, result="{}"))
    long_ago = time.time() - 10 * freshness.STALE_SECONDS
    os.utime(path, (long_ago, long_ago))
    ((_, entry),) = journal.read(tmp_path)

    assert journal.replay(queue, entry) is None
    assert not path.exists()
    assert "has never heard of its claim" in caplog.text
