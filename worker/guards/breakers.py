"""Circuit breakers: leave a site or a profile alone for a while after many failures.

A breaker opens on many failures if no task works there. It holds back the tasks that failed. One
job at a time is sent as a canary, at once if its task has not failed there. Its success closes the
breaker; its failure costs the job nothing.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from worker.database.client import Database, Row, Transaction
from worker.errors import UsageError
from worker.guards.keys import ClosedKey, task_at_key
from worker.queue import events
from worker.queue.events import EventKind
from worker.reasons import kept
from worker.retry_after import shared_wait_seconds

WINDOW_SECONDS = 60
# A spike of failures within the window opens a breaker, unless a task works there: a task works if
# it has more than one success for each FAILURES_PER_SUCCESS failures.
SPIKE = 8
FAILURES_PER_SUCCESS = 4
COOLDOWN_SECONDS = 30.0

logger = logging.getLogger("nightshift.breakers")


def tripped(db: Database) -> list[Row]:
    """Read the breakers that do not let everything through."""
    return db.fetch_all("read_tripped_breakers")


def closed_keys(breakers: list[Row]) -> list[ClosedKey]:
    """List what breakers hold back: a key, or single tasks at a key."""
    closed = []
    for row in breakers:
        if (refusal := refuses(row)) is None:
            continue
        tasks = _held_back(row) if row["state"] == "open" else {}
        closed += [_at_task(refusal, task) for task in tasks] or [refusal]
    return closed


def awaiting_canaries(db: Database) -> dict[str, ClosedKey]:
    """Name the keys, each by its own name, whose time to be checked has come: one job at a time.

    They hold nothing back from a search, but all jobs except the one that is claimed first wait.
    """
    found = {}
    for row in tripped(db):
        if row["state"] == "closed" or row["wait_seconds"] is None or refuses(row):
            continue
        reason = f"the breaker of {row['name']} is open, and one job will check it first"
        if row["reason"]:
            reason += f": {kept(row['reason'])}"
        waits = ClosedKey(row["name"], reason, 0.0)
        tasks = _held_back(row) if row["state"] == "open" else {}
        for item in [_at_task(waits, task) for task in tasks] or [waits]:
            found[item.key] = item
    return found


def refuses(breaker: Row) -> ClosedKey | None:
    """Tell whether a breaker lets nothing through now, at least of the tasks that failed."""
    name, wait = breaker["name"], breaker["wait_seconds"]
    if breaker["state"] == "closed":
        return None
    if wait is None:
        return ClosedKey(name, f"the breaker of {name} is held open: {kept(breaker['reason'])}")
    if float(wait) <= 0:
        return None
    if breaker["state"] == "half_open":
        return ClosedKey(name, f"a canary is checking whether {name} works again", float(wait))
    return ClosedKey(name, f"the breaker of {name} is open: {kept(breaker['reason'])}", float(wait))


def failing_tasks(breaker: Row) -> dict[str, int]:
    """Name the tasks that speak against a key, with the failures of each."""
    return json.loads(breaker["failing"]) if breaker["failing"] else {}


def is_of_others(breaker: Row, task: str) -> bool:
    """Whether a task is another than those that opened a breaker."""
    tasks = _held_back(breaker)
    return bool(tasks) and task not in tasks


def scope(key: str) -> dict[str, str | None]:
    """Say which jobs a breaker is about: those of a site, or of a profile."""
    kind, _, value = key.partition(":")
    return {name: value if name == kind else None for name in ("site", "profile")}


def admit(tx: Transaction, keys: tuple[str, ...], task: str) -> tuple[ClosedKey | None, str | None]:
    """Judge a claim by the breakers of its keys, which stay locked until the claim is made.

    Returns what refuses it, or else the breaker whose canary this job is to be.
    """
    canary = None
    for row in tx.fetch_all("lock_breakers", names=keys):
        if refusal := refuses(row):
            tasks = _held_back(row) if row["state"] == "open" else {}
            if not tasks:
                return refusal, None
            if task in tasks:
                return _at_task(refusal, task), None
        canary = canary or row["name"]
    return None, canary


def note_success(db: Database, keys: Iterable[str], task: str) -> None:
    """Close the breakers of keys at which another task than those that opened them works."""

    def close(tx: Transaction, key: str) -> bool:
        rows = tx.fetch_all("lock_breaker", name=key)
        if not rows or rows[0]["state"] == "closed" or not is_of_others(rows[0], task):
            return False
        events.end(tx, EventKind.BREAKER, key, closed_by=f"task {task} works there")
        return tx.execute("close_breaker", name=key) == 1

    for key in keys:
        if db.transaction(partial(close, key=key)):
            logger.warning("%s works for %s: its breaker is closed", key, task)


def note_failure(
    db: Database,
    key: str,
    task: str,
    reason: str,
    retry_after: float | None = None,
    cooldown_seconds: float = COOLDOWN_SECONDS,
) -> bool:
    """Count a failure that a key is to blame for; tell whether that opened its breaker."""

    def count(tx: Transaction) -> bool:
        tx.execute("open_window", name=key, window_seconds=WINDOW_SECONDS)
        breaker = tx.fetch_all("lock_breaker", name=key)[0]
        failing = Counter(failing_tasks(breaker))
        failing[task] += 1
        failures = failing.total()
        tx.execute("count_failure", name=key, failures=failures, failing=json.dumps(failing))
        if breaker["state"] != "closed" or failures < SPIKE or _works(tx, breaker, failing):
            return False
        cause = f"{failures} failures within a minute, the last: {reason}"[:255]
        seconds = max(cooldown_seconds, shared_wait_seconds(retry_after))
        if tx.execute("trip_breaker", name=key, reason=cause, seconds=seconds) != 1:
            return False
        events.begin(tx, EventKind.BREAKER, key, reason=cause)
        return True

    return db.transaction(count)


def forget_quiet(db: Database) -> None:
    """Remove the counts of keys that have not failed lately: thousands of sites fail once."""
    db.execute("forget_quiet_breakers", window_seconds=WINDOW_SECONDS)


def forget(tx: Transaction, key: str) -> None:
    """Forget a breaker together with what it guarded."""
    tx.execute("forget_breaker", name=key)
    events.end(tx, EventKind.BREAKER, key, closed_by="forgotten with what it guarded")


def all_breakers(db: Database) -> list[tuple[Row, ClosedKey | None]]:
    """List every breaker that has something to tell, with what it holds back now."""
    rows = db.fetch_all("read_breakers")
    return [({**row, "failing": failing_tasks(row)}, refuses(row)) for row in rows]


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

    def write(tx: Transaction) -> None:
        tx.execute(
            "hold_breaker",
            name=key,
            state=state,
            seconds=seconds,
            reason=reason,
            held=held,
            held_by=by[:255],
        )
        if state == "open":
            events.begin(tx, EventKind.BREAKER, key, reason=reason or "", by=by[:255])
        else:
            events.end(tx, EventKind.BREAKER, key, closed_by=by[:255])

    db.transaction(write)


def _works(tx: Transaction, breaker: Row, failing: Counter[str]) -> bool:
    """Whether some task does well there: then the site is not to blame for the others."""
    rows = tx.fetch_all(
        "count_successes",
        since=breaker["window_start"],
        **scope(breaker["name"]),
        # With this many successes in all, at least one task must be doing well.
        limit=failing.total() // FAILURES_PER_SUCCESS + 1,
    )
    return any(row["successes"] * FAILURES_PER_SUCCESS > failing[row["task"]] for row in rows)


def _held_back(breaker: Row) -> dict[str, int]:
    """Name the tasks that a breaker is about; none: about all, because it was opened by hand."""
    return failing_tasks(breaker) if breaker["openings"] else {}


def _at_task(refusal: ClosedKey, task: str) -> ClosedKey:
    return replace(
        refusal, key=task_at_key(task, refusal.key), reason=f"{refusal.reason} (task {task})"
    )
