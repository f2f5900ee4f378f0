"""The evidence of a failure, captured in a new folder, as the executor's reporter has it done."""

from __future__ import annotations

from pathlib import Path

from worker.browser.evidence import BUDGET_SECONDS, capture_into
from worker.browser.failed_attempt import Failure
from worker.browser.session import BrowserSession
from worker.evidence.files import new_attempt_folder


def capture(
    errors_dir: Path,
    failure: Failure,
    session: BrowserSession,
    budget_seconds: float = BUDGET_SECONDS,
) -> dict[str, str]:
    """Write the evidence of one failed attempt; return the outcome of every step."""
    folder = new_attempt_folder(
        errors_dir, failure.job_id, failure.attempt, database=failure.database
    )
    return capture_into(folder, failure, session, budget_seconds)
