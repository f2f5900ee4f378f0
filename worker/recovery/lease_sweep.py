"""Ending the leases on profiles whose holder is gone, or has not renewed them in time."""

from __future__ import annotations

from worker.database.client import Database
from worker.profiles import lease_endings
from worker.recovery.dead_owners import owner_is_gone

SWEEP_AT_ONCE = 500


def sweep_leases(db: Database, *, with_expired: bool = True) -> list[tuple[str, str]]:
    """End the leases of holders that are gone; return each profile with the reason."""
    swept = []
    for row in db.fetch_all("leases_with_owners"):
        if owner_is_gone(row):
            reason = f"{row['holder']} and its launcher (run {row['run_id']}) are gone"
            swept.append((row, reason, False))
    if with_expired:
        for row in db.fetch_all("expired_leases", limit=SWEEP_AT_ONCE):
            late = f"{row['overdue_seconds']} s ago"
            verb = "was not returned; it ended" if row["is_person"] else "expired"
            swept.append((row, f"the lease of {row['holder']} {verb} {late}", True))
    return [
        (row["profile_id"], reason)
        for row, reason, is_expired in swept
        if lease_endings.end_unexplained(
            db,
            row["profile_id"],
            row["fence"],
            author="sweep",
            reason=reason,
            # It may have been renewed since it was read.
            only_if_expired=is_expired,
        )
    ]
