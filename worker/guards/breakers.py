"""Circuit breakers: when a site or a profile fails again and again, leave it alone for a while.

A breaker opens on a spike of blocks or failures, lets one canary through when its time is over,
and closes when that one succeeds. A canary that fails costs its job nothing.
"""

from __future__ import annotations

from worker.database.client import Database, Row, Transaction
from worker.errors import UsageError
from worker.guards.keys import ClosedKey
from worker.models import Claim

WINDOW_SECONDS = 60
# So many failures within the window, and so many for each success, open a breaker: a site that
# fails for some jobs only is not left alone.
SPIKE = 8
FAILURES_PER_SUCCESS = 4
COOLDOWN_SECONDS = 30.0
LONGEST_SECONDS = 1800.0


def tripped(db: Database) -> list[Row]:
    """Read the breakers that do not let everything through."""
    return db.fetch_all("read_tripped_breakers")


def closed_keys(breakers: list[Row]) -> list[ClosedKey]:
    """List the keys whose breaker is open."""
    found = [refuses(row) for row in breakers]
    return [closed for closed in found if closed is not None]


def refuses(breaker: Row) -> ClosedKey | None:
    """Tell whether a breaker lets nothing through now."""
    name, wait = breaker["name"], breaker["wait_seconds"]
    if breaker["state"] == "closed":
        return None
    if wait is None:
        return ClosedKey(name, f"the breaker of {name} is held open: {breaker['reason']}")
    if float(wait) <= 0:
        return None
    if breaker["state"] == "half_open":
        return ClosedKey(name, f"one job is out to see whether {name} works again", float(wait))
    return ClosedKey(name, f"the breaker of {name} is open: {breaker['reason']}", float(wait))


def admit(tx: Transaction, keys: tuple[str, ...]) -> tuple[ClosedKey | None, str | None]:
    """Judge a claim by the breakers of its keys, which stay locked until the claim is made.

    Returns what refuses it, or else the breaker whose canary this job is to be.
    """
    canary = None
    for row in tx.fetch_all("lock_breakers", names=keys):
        if refusal := refuses(row):
            return refusal, None
        canary = canary or row["name"]
    return None, canary


def send_canary(tx: Transaction, name: str, claim: Claim, patience_seconds: float) -> None:
    """Note which job is out to see; when it does not come back in time, another one goes."""
    tx.execute(
        "send_canary",
        name=name,
        job_id=claim.job_id,
        fence=claim.fence,
        patience_seconds=patience_seconds,
    )


def canary_came_back(db: Database, claim: Claim) -> None:
    """Close the breaker that a job went out for and came back from with a result."""
    db.execute("canary_survived", name=claim.canary, job_id=claim.job_id, fence=claim.fence)


def canary_was_useless(db: Database, claim: Claim) -> None:
    """Let another job go: this one failed for a reason that says nothing about the key."""
    db.execute("canary_returned", name=claim.canary, job_id=claim.job_id, fence=claim.fence)


def canary_failed(
    db: Database,
    claim: Claim,
    reason: str,
    retry_after: float | None,
    cooldown_seconds: float = COOLDOWN_SECONDS,
) -> None:
    """Leave the key alone for twice as long as before, and let another job go out next.

    A job that fails whatever the site does would otherwise keep the breaker open for ever.
    """
    db.execute(
        "canary_failed",
        name=claim.canary,
        job_id=claim.job_id,
        fence=claim.fence,
        reason=reason[:255],
        seconds=cooldown_seconds,
        at_least=retry_after or 0.0,
        longest=LONGEST_SECONDS,
    )
    db.execute("put_canary_behind", name=claim.canary, job_id=claim.job_id, fence=claim.fence)


def note_failure(
    db: Database,
    key: str,
    reason: str,
    retry_after: float | None = None,
    cooldown_seconds: float = COOLDOWN_SECONDS,
) -> bool:
    """Count a failure that a key is to blame for; tell whether that opened its breaker."""
    db.execute("note_failure", name=key, window_seconds=WINDOW_SECONDS)
    breaker = db.fetch_one("get_breaker", name=key)
    if breaker is None or breaker["state"] != "closed" or breaker["failures"] < SPIKE:
        return False
    if _successes(db, breaker) * FAILURES_PER_SUCCESS > breaker["failures"]:
        return False
    opened = db.execute(
        "trip_breaker",
        name=key,
        reason=f"{breaker['failures']} failures within a minute, the last: {reason}"[:255],
        seconds=max(cooldown_seconds, retry_after or 0.0),
    )
    return opened == 1


def forget_quiet(db: Database) -> None:
    """Remove the counts of keys that have not failed lately: thousands of sites fail once."""
    db.execute("forget_quiet_breakers", window_seconds=WINDOW_SECONDS)


def forget(tx: Transaction, key: str) -> None:
    """Forget a breaker together with what it guarded."""
    tx.execute("forget_breaker", name=key)


def all_breakers(db: Database) -> list[tuple[Row, ClosedKey | None]]:
    """List every breaker that has something to tell, with what it holds back now."""
    rows = db.fetch_all("read_breakers")
    return [(row, refuses(row)) for row in rows]


def open_by_hand(db: Database, key: str, seconds: float | None, reason: str, by: str) -> None:
    """Let nothing through for a while, or until `close_by_hand`."""
    _hold(db, key, "open", seconds, reason, "open" if seconds is None else None, by)


def close_by_hand(db: Database, key: str, *, keep: bool, by: str) -> None:
    """Let everything through again; `keep` also keeps the breaker from opening by itself."""
    _hold(db, key, "closed", None, None, "closed" if keep else None, by)


def _hold(
    db: Database,
    key: str,
    state: str,
    seconds: float | None,
    reason: str | None,
    held: str | None,
    by: str,
) -> None:
    kind, _, value = key.partition(":")
    if kind not in ("site", "profile") or not value:
        raise UsageError(f"{key!r} has no breaker; write site:example.com or profile:NAME")
    db.execute(
        "hold_breaker",
        name=key,
        state=state,
        seconds=seconds,
        reason=reason,
        held=held,
        held_by=by[:255],
    )


def _successes(db: Database, breaker: Row) -> int:
    kind, _, value = breaker["name"].partition(":")
    row = db.fetch_all(
        "count_successes",
        since=breaker["window_start"],
        site=value if kind == "site" else None,
        profile=value if kind == "profile" else None,
        limit=breaker["failures"] // FAILURES_PER_SUCCESS + 1,
    )[0]
    return int(row["successes"])
