"""Hold a profile for an errand of a person's own command, so that nobody opens it meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from worker.database.client import Database
from worker.errors import LeaseLost, UsageError
from worker.profiles import hosts, lease_endings, leases, presence, store

# Far more than an errand takes. If its command is killed, the hold ends like any checkout.
ERRAND_SECONDS = 3600.0


def require_free(db: Database, profile_id: str, what: str) -> None:
    """Raise UsageError, which says who holds the profile, when somebody does."""
    held = leases.of_profile(db, profile_id)
    if not held:
        return
    remedy = "wait until its job is done"
    if held[0]["is_person"]:
        remedy = f"return it first: launcher.py profiles return {profile_id}"
    raise UsageError(
        f"profile {profile_id} is in use by {held[0]['holder']}; nothing was {what}: {remedy}"
    )


@contextmanager
def errand(db: Database, profile_id: str, *, by: str, reason: str) -> Iterator[int]:
    """Hold a profile alone and give it back in any case; yields the fence of the hold.

    Raises UsageError when it cannot be held now, or lives on another host.
    """
    profile = store.get(db, profile_id)
    if where := hosts.elsewhere(profile):
        raise UsageError(f"{where}; nothing was done: run the command there")
    fence = store.check_out(db, profile_id, person=by, seconds=ERRAND_SECONDS, reason=reason)
    try:
        yield fence
        presence.note(db, profile)
    finally:
        lease_endings.release(db, profile_id, fence, author=by, reason=reason)


def require_held(db: Database, profile_id: str, fence: int) -> None:
    """Raise LeaseLost when somebody has ended the hold meanwhile."""
    if all(lease["fence"] != fence for lease in leases.of_profile(db, profile_id)):
        raise LeaseLost(profile_id, fence)
