"""Profiles in a person's hands: keep one for longer, and count those that should be back.

How one is taken and returned is in `store`; nothing but a person ends a person's checkout.
"""

from __future__ import annotations

from worker.database.client import Database, Row, Transaction
from worker.errors import UsageError
from worker.installation import command_line
from worker.profiles import events, leases, readiness
from worker.profiles.manifest import Manifest
from worker.profiles.readiness import NotReady

LONGEST_SECONDS = 30 * 86400.0


def extend(db: Database, profile_id: str, seconds: float, *, by: str) -> Row:
    """Let whoever has a profile keep it for longer; return their lease as it is now.

    Raises UsageError when no person has it, or it would be theirs for more than 30 days from now.
    """

    def write(tx: Transaction) -> Row:
        tx.fetch_all("lock_profile", id=profile_id)
        lease = _of_person(tx, profile_id)
        if max(0.0, float(lease["left_seconds"])) + seconds > LONGEST_SECONDS:
            raise UsageError("--extend: a checkout ends within 30 days from now; nothing was done")
        tx.execute("extend_checkout", profile_id=profile_id, fence=lease["fence"], seconds=seconds)
        lease = _of_person(tx, profile_id)
        events.record(
            tx,
            "extended",
            author=by,
            reason=f"{lease['holder']} has it until {lease['expires_at']:%Y-%m-%d %H:%M:%S}Z",
            profile_id=profile_id,
            account_id=lease["account_id"],
            fence=lease["fence"],
        )
        return lease

    return db.transaction(write)


def count_overdue(db: Database) -> int:
    """Count the checkouts that have run over."""
    return int(db.fetch_all("count_overdue_checkouts")[0]["checkouts"])


def way_out_problem(db: Database, profile_id: str) -> NotReady | None:
    """Judge a profile's proxy for a person who wants to go out by it."""

    def look(tx: Transaction) -> NotReady | None:
        tx.discard()
        profile = tx.fetch_all("lock_profile", id=profile_id)[0]
        return readiness.judge_way_out(tx, profile, Manifest(profile=profile_id))

    return db.transaction(look)


def _of_person(tx: Transaction, profile_id: str) -> Row:
    mine = [row for row in leases.of_profile(tx, profile_id) if row["is_person"]]
    if not mine:
        raise UsageError(
            f"profile {profile_id} is not checked out by anybody; to take it: "
            f"{command_line('profiles', 'checkout', profile_id)}"
        )
    return mine[0]
