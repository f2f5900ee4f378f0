"""A job whose browser elsewhere was lost under it: not its fault, unless that always happens to it.

While the endpoint is gone, a loss never costs an attempt. Where the endpoint is well, the job may
have killed its browser: that is forgiven a few times, then it is a crash, as it is here.
"""

from __future__ import annotations

from worker.browser.session import BrowserSession
from worker.database.best_effort import best_effort
from worker.database.client import Database
from worker.errors import Blocked, Fail, JobTimedOut, NightshiftError
from worker.models import Cause, Claim, Ending, Outcome

LOST = "its browser elsewhere was lost"
# Up to this many losses are nobody's fault, even if the endpoint is well.
MOST_LOSSES = 5
ANSWER_SECONDS = 5.0
# A worker that holds a job must not wait for the database longer than its lease allows.
PATIENCE_SECONDS = 5.0


def of_lost_browser(
    db: Database, session: BrowserSession, claim: Claim, error: BaseException
) -> Ending | None:
    """Hand a job back whose browser was lost; None when it was not, or the job is to blame."""
    remote = session.remote
    if remote is None or not _may_come_of_it(error):
        return None
    if isinstance(error, JobTimedOut):
        # Its connection was cut to end it. A host that vanished looks like a page that hangs.
        return _lost(remote.label, "and does not answer") if remote.is_gone else None
    with session.limit(ANSWER_SECONDS):
        # The page may be told of as closed a moment before its browser is.
        if session.is_alive and remote.answers():
            return None
    if not remote.is_gone and _losses(db, claim.job_id) >= MOST_LOSSES:
        return None
    return _lost(remote.label)


def _may_come_of_it(error: BaseException) -> bool:
    """Whether an error says nothing by itself of why the job failed."""
    return isinstance(error, JobTimedOut) or not isinstance(error, NightshiftError | Blocked | Fail)


def _losses(db: Database, job_id: int) -> int:
    row = None
    with best_effort(db, "losses were not counted", patience_seconds=PATIENCE_SECONDS):
        row = db.fetch_one("losses_of_browsers", id=job_id, pattern=f"{LOST}%")
    return int(row["losses"]) if row is not None else 0


def _lost(label: str, more: str = "") -> Ending:
    return Ending(Outcome.HANDED_BACK, f"{LOST} ({label}{f' {more}' * bool(more)})", Cause.POOL)
