"""Check stale profiles: stop what a vanished worker left running, then make them available.

Only one worker checks a profile at a time, and only a stale one, so no browser in use is stopped.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from worker.browser.providers.spec import ProfileSpec
from worker.database.client import Database, Row, Transaction
from worker.errors import NightshiftError
from worker.profiles import events, leases
from worker.profiles.sole_check import sole_check
from worker.profiles.specs import spec_to_stop
from worker.profiles.states import State

CHECK_AT_ONCE = 20
# A browser that could not be stopped within this time is left to a person.
CHECK_SECONDS = 120.0

Stop = Callable[[ProfileSpec], None]

logger = logging.getLogger("nightshift.profiles")


def check_stale(db: Database, stop: Stop, author: str) -> int:
    """Check stale profiles that nobody else checks; return how many are available again.

    A profile whose browser cannot be stopped stays stale and is checked again; after a while it
    goes to review. Profiles that were set aside at once have their browser stopped too.
    """
    available = 0
    for row in db.fetch_all("stale_profiles", limit=CHECK_AT_ONCE):
        is_over = float(row["stale_seconds"]) > CHECK_SECONDS
        with sole_check(db, row["id"]) as is_ours:
            available += is_ours and _check(db, row["id"], stop, author, is_over)
    for row in db.fetch_all("unstopped_profiles", id=None, limit=CHECK_AT_ONCE):
        with sole_check(db, row["id"]) as is_ours:
            if is_ours:
                _end_browser(db, row["id"], stop, author)
    return available


def _check(db: Database, profile_id: str, stop: Stop, author: str, is_over: bool) -> bool:
    profile = db.fetch_one("get_profile", id=profile_id)
    if profile is None or State(profile["state"]) is not State.STALE:
        return False
    if leases.of_profile(db, profile_id):
        # Whoever shares it still works there: it is checked when they have let go.
        return False
    problem = _stop(profile, stop)
    if problem is None:
        reason = "nothing of its last holder is left"
        return db.transaction(
            lambda tx: _leave_stale(tx, profile_id, State.AVAILABLE, "checked", author, reason)
        )
    logger.warning("profile %s stays stale: %s", profile_id, problem)
    if is_over:
        db.transaction(
            lambda tx: _leave_stale(
                tx, profile_id, State.REVIEW_REQUIRED, "check_failed", author, problem
            )
        )
    return False


def _end_browser(db: Database, profile_id: str, stop: Stop, author: str) -> None:
    """Stop what is left of a profile that was set aside, once: a person looks at it anyway."""
    profile = db.fetch_one("get_profile", id=profile_id)
    if profile is None or not db.fetch_all("unstopped_profiles", id=profile_id, limit=1):
        return
    problem = _stop(profile, stop)
    events.record(
        db,
        "stopped" if problem is None else "not_stopped",
        author=author,
        reason=problem or "nothing of its last holder is left",
        profile_id=profile_id,
        account_id=profile["account_id"],
    )


def _stop(profile: Row, stop: Stop) -> str | None:
    try:
        stop(spec_to_stop(profile))
    except NightshiftError as error:
        return str(error)
    return None


def _leave_stale(
    tx: Transaction, profile_id: str, state: State, event: str, author: str, reason: str
) -> bool:
    profile = tx.fetch_all("lock_profile", id=profile_id)[0]
    if State(profile["state"]) is not State.STALE:
        return False
    if leases.of_profile(tx, profile_id):
        # A person has taken it to look at it meanwhile.
        return False
    events.move(tx, profile, state, event=event, author=author, reason=reason)
    return True
