"""What a failed attempt leaves: evidence, or the reason why there is none."""

from __future__ import annotations

from worker.execution.failure_report import Reporter
from worker.models import Claim, Ending, Outcome, Owner
from worker.system.board import Board


def test_a_folder_that_cannot_be_made_is_told_in_the_reason_and_nothing_is_raised(tmp_path):
    (tmp_path / "errors").write_text("a file where the folder should be")
    # No page is asked for anything: there is nowhere to put what it would say.
    reporter = Reporter(tmp_path / "errors", "here", 1, Owner(0, 7), session=None)
    claim = Claim(4729, 1, 7, attempt=1, max_attempts=4, task="visit", payload="{}")

    ending = reporter.report(
        claim, Ending(Outcome.ERROR, "it broke"), Board(1).entries[0], ValueError("it broke")
    )

    assert ending.reason.startswith("it broke (no evidence: ")
    assert ending.evidence is None
    assert ending.last_error.endswith("ValueError: it broke\n")
