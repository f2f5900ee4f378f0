"""Check stale profiles: stop what a vanished worker left running, then make them available.

Only one worker checks a profile at a time, and only a stale one, so no browser in use is stopped.
What cannot be stopped is tried again, at longer and longer intervals, until a person clears it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from worker.browser.providers.spec import ProfileSpec
from worker.database.client import Database, Row, Transaction
from worker.errors import NightshiftError
from worker.profiles import events, leases, stop_tries, vendor_sessions
from worker.profiles.sole_check import sole_check
from worker.profiles.specs import spec_to_stop
from worker.profiles.states import State
from worker.system.identity import this_host

CHECK_AT_ONCE = 20
# A vendor that hangs holds a worker up: after this time the rest is left for the next look.
CHECK_SECONDS = 5.0

# Stops a profile's browser and names what was ended, if anything was.
Stop = Callable[[ProfileSpec], str | None]

logger = logging.getLogger("nightshift.profiles")


def check_stale(db: Database, stop: Stop, author: str) -> int:
    """Check stale profiles that nobody else checks; return how many are available again.

    A profile whose browser cannot be stopped stays stale and is checked again later. Profiles
    that were set aside at once have their browser stopped too.
    """
    here, available = this_host(), 0
    where: dict[str, Any] = {"host": here.name, "host_id": here.id, "limit": CHECK_AT_ONCE}
    stale = db.fetch_all("stale_profiles", **where)
    unstopped = db.fetch_all("unstopped_profiles", id=None, due_only=True, **where)
    due = [(row["id"], _check) for row in stale] + [(row["id"], _end_browser) for row in unstopped]
    began = time.monotonic()
    for profile_id, check in due:
        if time.monotonic() - began > CHECK_SECONDS:
            break
        with sole_check(db, profile_id) as is_ours:
            available += is_ours and check(db, profile_id, stop, author)
    return available


def is_unstopped(reader: Database | Transaction, profile_id: str) -> bool:
    """Tell whether the browser of a profile that was set aside is still to be stopped."""
    return bool(
        reader.fetch_all(
            "unstopped_profiles", id=profile_id, due_only=False, host=None, host_id="", limit=1
        )
    )


def _check(db: Database, profile_id: str, stop: Stop, author: str) -> bool:
    profile = db.fetch_one("get_profile", id=profile_id)
    if profile is None or State(profile["state"]) is not State.STALE:
        return False
    if leases.of_profile(db, profile_id):
        # Whoever shares it still works there: it is checked when they have let go.
        return False
    is_stopped, what = _stop(db, profile, stop, author)
    if not is_stopped:
        logger.warning("profile %s stays stale: %s: %s", profile_id, stop_tries.MAY_RUN, what)
        return False
    return db.transaction(lambda tx: _leave_stale(tx, profile_id, author, what))


def _end_browser(db: Database, profile_id: str, stop: Stop, author: str) -> bool:
    """Stop what is left of a profile that was set aside; it stays so, and nothing is available."""
    profile = db.fetch_one("get_profile", id=profile_id)
    if profile is None or not is_unstopped(db, profile_id):
        return False
    is_stopped, what = _stop(db, profile, stop, author)
    if is_stopped:
        events.record(
            db,
            "stopped",
            author=author,
            reason=what,
            profile_id=profile_id,
            account_id=profile["account_id"],
        )
        stop_tries.forget(db, profile_id)
    return False


def _stop(db: Database, profile: Row, stop: Stop, author: str) -> tuple[bool, str]:
    """Stop a profile's browser; tell whether that went well, and what was ended or why not."""
    try:
        ended = stop(vendor_sessions.forgotten_with(db, spec_to_stop(profile)))
    except NightshiftError as error:
        stop_tries.note(db, profile, str(error), author=author)
        return False, str(error)
    if ended is None:
        return True, "nothing of its last holder is left"
    logger.warning("profile %s: %s, which its last holder left running", profile["id"], ended)
    return True, f"{ended}; nothing of its last holder is left"


def _leave_stale(tx: Transaction, profile_id: str, author: str, reason: str) -> bool:
    profile = tx.fetch_all("lock_profile", id=profile_id)[0]
    if State(profile["state"]) is not State.STALE:
        return False
    if leases.of_profile(tx, profile_id):
        # A person has taken it to look at it meanwhile.
        return False
    stop_tries.forget(tx, profile_id)
    events.move(tx, profile, State.AVAILABLE, event="checked", author=author, reason=reason)
    return True
