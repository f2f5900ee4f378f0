"""Hold a profile for an errand of a person's own command, so that nobody opens it meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from worker.database.client import Database, Row
from worker.errors import LeaseLost, UsageError
from worker.installation import command_line
from worker.profiles import hosts, lease_endings, leases, store

# Far more than an errand takes. If its command is killed, the hold ends like any checkout.
ERRAND_SECONDS = 3600.0


def require_here(profile: Row, what: str) -> None:
    """Raise UsageError when the profile's folder is on another host."""
    if (other := hosts.elsewhere(profile)) is not None:
        raise UsageError(f"{other}; nothing was {what}: do that there")


def require_free(db: Database, profile_id: str, what: str) -> None:
    """Raise UsageError, which says who holds the profile, when somebody does."""
    held = leases.of_profile(db, profile_id)
    if not held:
        return
    remedy = "wait until its job is done"
    if held[0]["is_person"]:
        remedy = f"return it first: {command_line('profiles', 'return', profile_id)}"
    raise UsageError(
        f"profile {profile_id} is in use by {held[0]['holder']}; nothing was {what}: {remedy}"
    )


@dataclass(slots=True)
class Errand:
    """A hold for an errand, and what is to be said of the profile when it ends."""

    fence: int
    # Why a person should look at it, and why its browser may still run.
    review: str | None = None
    left_running: str | None = None


@contextmanager
def errand(db: Database, profile_id: str, *, by: str, reason: str) -> Iterator[Errand]:
    """Hold a profile alone and give it back in any case.

    Raises UsageError when it cannot be held now.
    """
    fence = store.check_out(db, profile_id, person=by, seconds=ERRAND_SECONDS, reason=reason)
    held = Errand(fence)
    try:
        yield held
    finally:
        lease_endings.release(
            db,
            profile_id,
            fence,
            author=by,
            reason=reason,
            review=held.review,
            left_running=held.left_running,
        )


def require_held(db: Database, profile_id: str, fence: int) -> None:
    """Raise LeaseLost when somebody has ended the hold meanwhile."""
    if all(lease["fence"] != fence for lease in leases.of_profile(db, profile_id)):
        raise LeaseLost(profile_id, fence)
