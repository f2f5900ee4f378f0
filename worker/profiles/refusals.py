"""Decide what happens to a job whose profile is not ready: wait, reschedule, skip or review.

No attempt is spent. The first refusal of each kind is an event and is written on the job.
"""

from __future__ import annotations

from worker.database.client import Database
from worker.models import Candidate
from worker.profiles import events
from worker.profiles.manifest import Manifest
from worker.profiles.readiness import CONFLICT, NotReady

RESCHEDULE_SECONDS = 300.0


def decide(db: Database, candidate: Candidate, manifest: Manifest, refusal: NotReady) -> str:
    """Say what becomes of the job: wait, reschedule, skip, review or timeout."""
    if refusal.event != CONFLICT:
        # If only time or a person can fix it, the job waits, whatever its on_conflict says.
        return "wait"
    if manifest.on_conflict != "wait" or manifest.lock_timeout_seconds is None:
        return manifest.on_conflict
    waited = db.fetch_all("first_conflict", job_id=candidate.job_id)[0]["seconds"]
    is_over = waited is not None and float(waited) > manifest.lock_timeout_seconds
    return "timeout" if is_over else "wait"


def keep(
    db: Database,
    candidate: Candidate,
    manifest: Manifest,
    refusal: NotReady,
    decision: str,
    by: str,
) -> None:
    """Write the reason on a job that stays pending, and remember the refusal as an event."""
    delay, next_check = None, refusal.seconds
    if decision == "reschedule":
        delay = next_check = manifest.lock_timeout_seconds or RESCHEDULE_SECONDS
    elif refusal.event == CONFLICT and manifest.lock_timeout_seconds is not None:
        # Until then it is claimed as soon as its profile is free; then it is given up.
        next_check = manifest.lock_timeout_seconds
    is_news = db.execute(
        "note_wait", id=candidate.job_id, reason=refusal.reason[:255], delay_seconds=delay
    )
    if is_news:
        record(db, candidate, refusal, decision, by, next_check)


def record(
    db: Database,
    candidate: Candidate,
    refusal: NotReady,
    decision: str,
    by: str,
    next_check_seconds: float | None,
) -> None:
    """Remember a refusal with its owner, what was decided, and when it is looked at again."""
    events.record(
        db,
        refusal.event,
        author=by,
        reason=refusal.closed_key.reason,
        profile_id=candidate.profile_id,
        account_id=candidate.account_id,
        job_id=candidate.job_id,
        decision=decision,
        # Between the look and this line its time may have come.
        next_check_seconds=None if next_check_seconds is None else max(0.0, next_check_seconds),
    )
