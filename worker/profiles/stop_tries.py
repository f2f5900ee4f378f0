"""Browsers that could not be stopped: how often that was tried, and when it is tried again."""

from __future__ import annotations

from worker.database.client import Row
from worker.profiles import events
from worker.profiles.events import Writer

FIRST_SECONDS = 5.0
LONGEST_SECONDS = 600.0
# After this many failed tries, a run that has nothing else to do no longer waits for it.
PATIENT_TRIES = 5

MAY_RUN = "its browser may still run"


def wait_seconds(tries: int) -> float:
    """Say how long to wait after `tries` failed tries."""
    return min(FIRST_SECONDS * 2.0 ** min(tries - 1, 20), LONGEST_SECONDS)


def note(writer: Writer, profile: Row, problem: str, *, author: str) -> None:
    """Keep that a profile's browser could not be stopped; only the first time is an event."""
    tries = int(profile["stop_tries"]) + 1
    reason = f"{MAY_RUN}: {problem}"
    writer.execute(
        "note_stop_failed",
        id=profile["id"],
        tries=tries,
        wait_seconds=wait_seconds(tries),
        reason=reason[:500],
    )
    if tries == 1:
        events.record(
            writer,
            "not_stopped",
            author=author,
            reason=reason,
            profile_id=profile["id"],
            account_id=profile["account_id"],
        )


def forget(writer: Writer, profile_id: str) -> None:
    """Start counting anew: it is stopped, or a person says so."""
    writer.execute("forget_stop_tries", id=profile_id)
