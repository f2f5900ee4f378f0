"""An outcome is written when its row can be: it waits for its own server, and for no other row."""

from __future__ import annotations

import pytest

from tests.conftest import QueueForTests
from worker.claiming.candidates import Candidates
from worker.models import Cause, Ending, Outcome, Owner, Partition, Status
from worker.queue.outcome_writer import OutcomeWriter

OWNER = Owner(0, 7)


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        (Ending(Outcome.DONE, result="1"), Status.DONE),
        (Ending(Outcome.ERROR, "KeyError: price", Cause.CODE), Status.ERROR),
    ],
)
def test_an_outcome_does_not_wait_for_the_row_of_the_next_job(
    impatient, queue, claim_as, holding, tmp_path, ending, status
):
    first, second = queue.enqueue("visit", {}), queue.enqueue("visit", {})
    claim = claim_as(incarnation=7)
    candidate = Candidates(impatient, Partition(0, 1)).next()
    assert (claim.job_id, candidate.job_id) == (first, second)
    holding(second)

    writer = OutcomeWriter(impatient, QueueForTests(impatient), tmp_path, OWNER)
    written = writer.write(claim, ending, candidate)

    assert (written.settlement.status, written.following) == (status, None)
    assert queue.get(first)["status"] == status


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
