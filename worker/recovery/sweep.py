"""Put the jobs of vanished workers right.

A claim has no owner when its process is provably dead, or when its lease has ended.
Every settlement is fenced, so a sweep can run at any time, anywhere, beside any number of others.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass

from worker.database.client import Database, Row
from worker.errors import ClaimLost, RowsLocked
from worker.models import Cause, Ending, Outcome, Status
from worker.profiles import lease_endings
from worker.queue.claims import Queue
from worker.recovery import deaths, journal_replay, obituary
from worker.recovery.dead_owners import owner_is_gone
from worker.recovery.deaths import Swept
from worker.recovery.places import Places

SWEEP_AT_ONCE = 500
# A server that has just come back has seen no renewals for a while: living owners get this long.
SERVER_GRACE_SECONDS = 60.0
# A claim of a run that has beaten just now, and was not renewed, has a locked row: that may pass.
BEAT_SECONDS = 30.0
LOCKED_SECONDS = 120.0

logger = logging.getLogger("nightshift.sweep")


def sweep(
    db: Database,
    queue: Queue,
    *,
    places: Places | None = None,
    server_grace_seconds: float = SERVER_GRACE_SECONDS,
    answering_seconds: float = math.inf,
    dry_run: bool = False,
) -> list[Swept]:
    """Return every ownerless job to pending, or end it as an error at its cap.

    A job that was at an irreversible step ends as an error too: it may be half done.

    What dead workers left in the journal at this host's `places`, and deaths that nobody could
    settle, come first. On a server that has been up for less than the grace, or has answered the
    caller for less (`answering_seconds`), no claim is taken for expired.
    """
    if places is not None and not dry_run:
        settle_left(db, queue, places)
    how = _Sweeping(queue, places, is_dry=dry_run)
    swept = _sweep_dead(db, how)
    up_seconds = min(uptime_seconds(db), answering_seconds)
    if up_seconds >= min(server_grace_seconds, queue.lease_seconds):
        swept += _sweep_expired(db, how)
    return swept


def settle_left(db: Database, queue: Queue, places: Places) -> list[Swept]:
    """Write what dead workers of this host left in the journal; return the jobs that it settled."""
    written = [
        Swept(job_id, status, "its worker had left its outcome in the journal")
        for job_id, status in journal_replay.replay(db, queue, places.journal)
    ]
    return written + deaths.settle_kept(db, queue, places)


def sweep_profiles(
    db: Database,
    server_grace_seconds: float = SERVER_GRACE_SECONDS,
    answering_seconds: float = math.inf,
) -> list[tuple[str, str]]:
    """End the holds on profiles whose holder is gone; return each profile with the reason."""
    up_seconds = min(uptime_seconds(db), answering_seconds)
    return sweep_leases(db, with_expired=up_seconds >= server_grace_seconds)


def sweep_and_say(
    db: Database,
    queue: Queue,
    places: Places,
    server_grace_seconds: float,
    answering_seconds: float = math.inf,
) -> list[Swept]:
    """Sweep jobs and profiles, and log each one that was put right; return the jobs."""
    swept = sweep(
        db,
        queue,
        places=places,
        server_grace_seconds=server_grace_seconds,
        answering_seconds=answering_seconds,
    )
    for item in swept:
        logger.warning("swept job %s to %s: %s", item.job_id, item.status, item.reason)
    for profile, reason in sweep_profiles(db, server_grace_seconds, answering_seconds):
        logger.warning("swept profile %s: %s", profile, reason)
    return swept


def failed(swept: list[Swept]) -> int:
    """Count what ended as an error."""
    return sum(item.status is Status.ERROR for item in swept)


@dataclass(frozen=True, slots=True)
class _Sweeping:
    """How the claims that were found are put right, or would be."""

    queue: Queue
    places: Places | None
    is_dry: bool

    def settle(self, row: Row, reason: str, *, only_if_expired: bool) -> Swept | None:
        queue = self.queue
        claim, ending = queue.claim_in(row), Ending(Outcome.SWEPT, reason, Cause.POOL)
        if self.is_dry:
            settlement = queue.settlement_of(claim, ending)
        else:
            if claim.irreversible_step is not None:
                seconds = float(row["claim_seconds"] or 0)
                death = obituary.of_the_swept(claim, row["worker_id"], reason, seconds)
                ending = deaths.with_evidence(ending, claim, self.places, death)
            try:
                with queue.database.passing_locks():
                    settlement = queue.end(
                        claim, ending, only_if_expired=only_if_expired, as_read=True
                    )
            except (ClaimLost, RowsLocked):
                # Another sweep was faster, its worker has come back in time, or somebody holds
                # its row.
                return None
            deaths.note_evidence(ending, self.places)
        return Swept(claim.job_id, settlement.status, settlement.reason)


def _sweep_dead(db: Database, how: _Sweeping) -> list[Swept]:
    swept = []
    for row in db.fetch_all("claims_with_owners"):
        if owner_is_gone(row):
            reason = f"worker {row['worker_id']} and its launcher (run {row['run_id']}) are gone"
            swept.append(how.settle(row, reason, only_if_expired=False))
    return [item for item in swept if item is not None]


def _sweep_expired(db: Database, how: _Sweeping) -> list[Swept]:
    swept: list[Swept] = []
    after = 0
    while True:
        expired = db.fetch_all(
            "expired_claims",
            after=after,
            limit=SWEEP_AT_ONCE,
            beat_seconds=BEAT_SECONDS,
            # A run beats right after it has renewed: a later beat has passed this claim over.
            renewed_seconds=how.queue.lease_seconds - 1.0,
            locked_seconds=LOCKED_SECONDS,
        )
        for row in expired:
            reason = (
                f"worker {row['worker_id']} vanished: its claim was not renewed "
                f"and ended {row['overdue_seconds']} s ago"
            )
            item = how.settle(row, reason, only_if_expired=True)
            swept += [item] if item is not None else []
        if len(expired) < SWEEP_AT_ONCE:
            return swept
        after = expired[-1]["id"]


def uptime_seconds(db: Database) -> int:
    """Tell how long the server has been up; before that nobody could renew anything."""
    return int(db.fetch_all("server_uptime")[0]["Value"])


def sweep_leases(db: Database, *, with_expired: bool = True) -> list[tuple[str, str]]:
    """End the leases of workers that are gone; return each profile with the reason.

    A person's checkout that runs over is not ended: the profile stays theirs.
    """
    swept = []
    for row in db.fetch_all("leases_with_owners"):
        if owner_is_gone(row):
            reason = f"{row['holder']} and its launcher (run {row['run_id']}) are gone"
            swept.append((row, reason, False))
    if with_expired:
        for row in db.fetch_all(
            "expired_leases",
            limit=SWEEP_AT_ONCE,
            beat_seconds=BEAT_SECONDS,
            locked_seconds=LOCKED_SECONDS,
        ):
            reason = f"the lease of {row['holder']} expired {row['overdue_seconds']} s ago"
            swept.append((row, reason, True))
    return [
        (row["profile_id"], reason)
        for row, reason, is_expired in swept
        if _end_lease(db, row, reason, only_if_expired=is_expired)
    ]


def _end_lease(db: Database, row: Row, reason: str, *, only_if_expired: bool) -> bool:
    """End one lease; False if it has ended or was renewed since it was read, or is locked."""
    try:
        with db.passing_locks():
            return lease_endings.end_unexplained(
                db,
                row["profile_id"],
                row["fence"],
                author="sweep",
                reason=reason,
                only_if_expired=only_if_expired,
            )
    except RowsLocked:
        return False
