"""Canaries: one job sent ahead to see whether a site or a profile works again.

Its success closes the breaker. Its failure costs the job nothing, and the next canary comes from
another task or from elsewhere in the queue: one kind of broken job must not keep a site closed.
"""

from __future__ import annotations

import json
from typing import Any

from worker.database.client import Database, Row, Transaction
from worker.guards.breakers import COOLDOWN_SECONDS, failing_tasks, is_of_others, scope
from worker.models import Claim
from worker.queue import events
from worker.queue.events import EventKind

LONGEST_SECONDS = 1800.0
# Jobs that were added together tend to fail together. This many jobs behind a failed canary wait
# with it, so that the next canary comes from elsewhere. They are taken from the ids that follow it.
NEIGHBOURS = 64
NEIGHBOURHOOD = 2000


def send(tx: Transaction, name: str, claim: Claim, patience_seconds: float) -> None:
    """Record which job is the canary; if it does not end in time, another one is sent."""
    tx.execute(
        "send_canary",
        name=name,
        job_id=claim.job_id,
        fence=claim.fence,
        patience_seconds=patience_seconds,
    )


def came_back(db: Database, claim: Claim) -> None:
    """Close the breaker whose canary succeeded."""
    assert claim.canary is not None
    name = claim.canary

    def close(tx: Transaction) -> None:
        if tx.execute("canary_survived", name=name, job_id=claim.job_id, fence=claim.fence) == 1:
            events.end(tx, EventKind.BREAKER, name, closed_by=f"its canary, job {claim.job_id}")

    db.transaction(close)


def was_useless(db: Database, claim: Claim, cooldown_seconds: float = COOLDOWN_SECONDS) -> None:
    """Let another job go: this one failed for a reason that says nothing about the key."""

    def reopen(tx: Transaction) -> None:
        if (row := sent_from(tx, claim)) is None:
            return
        # The tasks that failed go on waiting, if this was a job of another.
        wait = (
            _rest_seconds(row["openings"], cooldown_seconds) if is_of_others(row, claim.task) else 0
        )
        _reopen(tx, row, failing_tasks(row), row["openings"], wait, row["reason"])

    db.transaction(reopen)


def failed(
    db: Database,
    claim: Claim,
    reason: str,
    retry_after: float | None,
    cooldown_seconds: float = COOLDOWN_SECONDS,
) -> None:
    """Leave the key alone for twice as long as before; each other task may send a job at once.

    A job of another task than those that failed adds its task to them and doubles nothing. A job
    that fails whatever the site does would otherwise keep the breaker open for ever.
    """

    def reopen(tx: Transaction) -> None:
        if (row := sent_from(tx, claim)) is None:
            return
        failing, openings = {claim.task: 1}, row["openings"] + 1
        if is_of_others(row, claim.task):
            failing, openings = failing | failing_tasks(row), row["openings"]
        wait = max(_rest_seconds(openings, cooldown_seconds), retry_after or 0.0)
        _reopen(tx, row, failing, openings, min(wait, LONGEST_SECONDS), reason)

    db.transaction(reopen)
    _put_behind(db, claim)


def failed_for_all(
    db: Database, claim: Claim, reason: str, retry_after: float | None, cooldown_seconds: float
) -> None:
    """Leave the key alone for twice as long as before: no job of any task could have had it."""

    def reopen(tx: Transaction) -> None:
        if (row := sent_from(tx, claim)) is None:
            return
        openings = row["openings"] + 1
        wait = max(_rest_seconds(openings, cooldown_seconds), retry_after or 0.0)
        _reopen(tx, row, {}, openings, min(wait, LONGEST_SECONDS), reason)

    db.transaction(reopen)


def sent_from(tx: Transaction, claim: Claim) -> Row | None:
    """Lock the breaker that a canary is out for; None when another has gone out meanwhile."""
    for row in tx.fetch_all("lock_breaker", name=claim.canary):
        sent = (row["canary_job"], row["canary_fence"])
        if row["state"] == "half_open" and sent == (claim.job_id, claim.fence):
            return row
    return None


def _rest_seconds(openings: int, cooldown_seconds: float) -> float:
    """Return how long a breaker stays open, by how often it has opened in a row."""
    return min(LONGEST_SECONDS, cooldown_seconds * 2.0 ** (openings - 1))


def _reopen(
    tx: Transaction,
    row: Row,
    failing: dict[str, int],
    openings: int,
    seconds: float,
    reason: str | None,
) -> None:
    tx.execute(
        "reopen_breaker",
        name=row["name"],
        failing=json.dumps(failing) if failing else None,
        openings=openings,
        seconds=seconds,
        reason=(reason or "")[:255],
    )


def _put_behind(db: Database, claim: Claim) -> None:
    """Let a canary that failed, and its neighbours in the queue, wait until another has gone."""
    assert claim.canary is not None
    where: dict[str, Any] = scope(claim.canary)
    neighbours = db.fetch_all(
        "neighbours_of_canary",
        **where,
        task=claim.task,
        job_id=claim.job_id,
        fence=claim.fence,
        last_id=claim.job_id + NEIGHBOURHOOD,
        limit=NEIGHBOURS + 1,
    )
    if ids := tuple(row["id"] for row in neighbours):
        db.execute("put_behind", name=claim.canary, job_id=claim.job_id, ids=ids)
