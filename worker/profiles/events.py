"""Record what happened to profiles, with reason and author; the one place that changes state."""

from __future__ import annotations

from typing import Protocol

from worker.database.client import Row
from worker.profiles import states
from worker.profiles.states import State


class Writer(Protocol):
    """A connection or a transaction: both can write."""

    def execute(self, name: str, /, **params: object) -> int: ...


def record(
    writer: Writer,
    event: str,
    *,
    author: str,
    reason: str,
    profile_id: str | None = None,
    account_id: str | None = None,
    old: State | None = None,
    new: State | None = None,
    fence: int | None = None,
    job_id: int | None = None,
    decision: str | None = None,
    next_check_seconds: float | None = None,
) -> None:
    """Keep one event."""
    writer.execute(
        "add_profile_event",
        profile_id=profile_id,
        account_id=account_id,
        event=event,
        from_state=old,
        to_state=new,
        fence=fence,
        job_id=job_id,
        author=author[:255],
        reason=reason[:500],
        decision=decision,
        next_check_seconds=next_check_seconds,
    )


def move(
    writer: Writer,
    profile: Row,
    new: State,
    *,
    event: str,
    author: str,
    reason: str,
    fence: int | None = None,
    job_id: int | None = None,
) -> None:
    """Change the state of a profile whose row is locked, by the table, and remember it.

    `profile` is updated as well. Raises UsageError when the table does not allow the change.
    """
    old = State(profile["state"])
    if old is not new:
        states.check(profile["id"], old, new)
        writer.execute(
            "set_profile_state",
            id=profile["id"],
            state=new.value,
            old_state=old.value,
            reason=reason[:500],
            author=author[:255],
        )
    record(
        writer,
        event,
        author=author,
        reason=reason,
        profile_id=profile["id"],
        account_id=profile["account_id"],
        old=old,
        new=new,
        fence=fence,
        job_id=job_id,
    )
    profile["state"] = new.value
