"""The line of a job that failed says where its evidence is, whatever the failure said."""

from __future__ import annotations

from pathlib import Path

import pytest

from worker.evidence.redaction import redact_text
from worker.execution import tally
from worker.models import Claim, Ending, Outcome, Status
from worker.queue.settlements import Settlement, settlement_of


@pytest.mark.parametrize("reason", ["refused: token=", "got Cookie:", "token=hunter2", "it broke"])
def test_the_place_of_the_evidence_is_never_masked(reason, caplog):
    claim = Claim(7, 1, 1, attempt=1, max_attempts=1, task="visit", payload="{}")
    ending = Ending(Outcome.ERROR, reason, evidence="7/1")
    tally.say(claim, ending, Settlement(Status.ERROR, Outcome.ERROR, reason), Path("errors"))

    # The worker's log and the launcher both redact it.
    line = redact_text(redact_text(caplog.messages[0]))
    assert line.endswith(" → errors/7/1")
    assert "hunter2" not in line


def test_a_job_that_is_not_tried_again_by_itself_is_said_to_be_half_done(caplog):
    claim = Claim(7, 1, 1, attempt=1, max_attempts=4, task="order", payload="{}")
    ending = Ending(Outcome.RETRY, "try me again", irreversible_step="paying")

    tally.say(claim, ending, settlement_of(claim, ending), Path("errors"))

    assert caplog.messages == [
        "job 7 failed, attempt 1 of 4, may be half done at 'paying': try me again"
    ]
