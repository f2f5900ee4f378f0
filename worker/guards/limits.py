"""Caps on what runs at once and on how often something starts, correct across hosts.

The count is taken from the jobs in progress, so nothing can leak. Starts of a limited key are
spaced evenly. Both are checked while the limit's row is locked, in the transaction of the claim,
which also writes that row: so they hold over the members of a cluster.
"""

from __future__ import annotations

import re
from collections import Counter

from worker.database.client import Database, Row, Transaction
from worker.errors import UsageError
from worker.guards import pace
from worker.guards.keys import GLOBAL, ClosedKey
from worker.guards.pace import Pace

KINDS = ("site", "task", "account", "vendor", "queue")

_KEY = re.compile(r"global|(?:site|task|account|vendor|queue):\S.*")


def set_limit(
    db: Database,
    key: str,
    *,
    concurrent: int | None,
    per_minute: float | None,
    by: str,
    paced: Pace | None = None,
) -> None:
    """Set the limit of a key, in place of the one it had; takes effect within two seconds."""
    paced = paced or Pace()
    warm_up = paced.warm_up
    db.execute(
        "set_limit",
        name=checked(key),
        concurrent=concurrent,
        per_minute=per_minute,
        per_hour=paced.per_hour,
        per_day=paced.per_day,
        warm_from=warm_up and warm_up.first,
        warm_to=warm_up and warm_up.last,
        warm_seconds=warm_up and warm_up.seconds,
        set_by=by[:255],
    )


def clear_limit(db: Database, key: str) -> bool:
    """Remove the limit of a key; tell whether it had one."""
    had_one = db.execute("clear_limit", name=checked(key)) > 0
    db.execute("forget_all_starts", name=checked(key))
    return had_one


def read(db: Database) -> list[Row]:
    """Read every limit, and for how long its rate lets nothing start."""
    return db.fetch_all("read_limits")


def all_limits(db: Database) -> list[tuple[Row, ClosedKey | None]]:
    """List every limit with what it holds back now, if it does."""
    limits = read(db)
    closed = {found.key: found for found in closed_keys(db, limits)}
    return [(row, closed.get(row["name"])) for row in limits]


def closed_keys(db: Database, limits: list[Row]) -> list[ClosedKey]:
    """List the keys whose limit is reached."""
    in_use: Counter[str] = Counter()
    if any(row["concurrent"] is not None for row in limits):
        for job in db.fetch_all("keys_in_progress"):
            account = f"account:{job['account_id']}"
            queue = f"queue:{job['queue']}"
            in_use.update((GLOBAL, f"site:{job['site']}", f"task:{job['task']}", account, queue))
    found = [reached(row, in_use[row["name"]]) for row in limits]
    return [closed for closed in found if closed is not None]


def reached(limit: Row, in_use: int) -> ClosedKey | None:
    """Tell whether a limit lets nothing more start now."""
    name, cap = limit["name"], limit["concurrent"]
    if cap is not None and in_use >= cap:
        seconds = None if cap == 0 else 1.0
        return ClosedKey(name, f"{name} is limited to {cap} at once ({in_use} running)", seconds)
    wait = float(limit["wait_seconds"])
    if wait > 0:
        return ClosedKey(name, f"{name} is limited to {limit['per_minute']:g} per minute", wait)
    return pace.rests(limit)


def admit(tx: Transaction, keys: tuple[str, ...]) -> ClosedKey | None:
    """Judge a claim by the limits of its keys, which stay locked until the claim is made.

    Returns what refuses it, or None when it may go on: its start is counted then.
    """
    limits = tx.fetch_all("lock_limits", names=keys)
    for row in limits:
        in_use = 0 if row["concurrent"] is None else _in_use(tx, row["name"])
        if refusal := reached(row, in_use) or pace.judge(tx, row):
            return refusal
    count_starts(tx, limits)
    return None


def count_starts(tx: Transaction, limits: list[Row]) -> None:
    """Count a start by each of these locked limits.

    Their rows are written, whatever they limit: locks hold on one member of a cluster only, but
    two members that have written the same row cannot both commit.
    """
    if limits:
        tx.execute("count_start", names=tuple(row["name"] for row in limits))
    for row in limits:
        pace.count(tx, row)


def checked(key: str) -> str:
    """Return a key as it is kept; raises UsageError for what cannot be limited."""
    key = key.strip()
    if key.startswith("site:"):
        host = re.sub(r"^https?://", "", key.removeprefix("site:").lower()).partition("/")[0]
        key = f"site:{host.removeprefix('www.')}"
    if not _KEY.fullmatch(key) or len(key) > 255:
        kinds = ", ".join(f"{kind}:…" for kind in KINDS)
        raise UsageError(f"{key!r} cannot be limited; write global, {kinds}")
    return key


def _in_use(tx: Transaction, key: str) -> int:
    kind, _, value = key.partition(":")
    only = {name: value if name == kind else None for name in ("site", "task", "account", "queue")}
    return int(tx.fetch_all("count_in_progress", **only)[0]["jobs"])
