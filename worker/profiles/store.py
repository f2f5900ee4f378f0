"""Add, read, set aside and check out profiles; add, pause and resume accounts."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worker.database.client import Database, Row, Transaction
from worker.errors import UsageError
from worker.profiles import events, hosts, lease_endings, leases, presence, stop_tries
from worker.profiles.leases import Holder
from worker.profiles.readiness import NotReady
from worker.profiles.resolution import resolve_for_person
from worker.profiles.sole_check import unchecked
from worker.profiles.states import State

POLICIES = ("check", "review", "quarantine")


@dataclass(frozen=True, slots=True)
class NewProfile:
    """A profile to be added."""

    id: str
    account_id: str | None = None
    provider: str = "local"
    folder: Path | None = None
    vendor_id: str | None = None
    endpoint: str | None = field(default=None, repr=False)
    options: dict[str, Any] | None = field(default=None, repr=False)
    proxy: str | None = None
    region: str | None = None
    max_active_runs: int = 1
    release_policy: str = "check"
    allowed_actions: tuple[str, ...] | None = None
    # What was chosen of its face; see faces.py.
    face: dict[str, str] = field(default_factory=dict)


def add(db: Database, profiles: list[NewProfile], by: str) -> None:
    """Add profiles and the accounts they name, all or none; raises DuplicateKey for one known."""

    def write(tx: Transaction) -> None:
        for new in profiles:
            if new.account_id is not None:
                tx.execute("add_account", id=new.account_id)
            tx.execute("add_profile", **columns(new), **hosts.home_of(new.provider))
            events.record(
                tx,
                "added",
                author=by,
                reason=f"provider {new.provider}",
                profile_id=new.id,
                account_id=new.account_id,
                new=State.AVAILABLE,
            )

    db.transaction(write)


def columns(new: NewProfile) -> dict[str, Any]:
    """Write a profile as its row's columns."""
    return {
        "id": new.id,
        "account_id": new.account_id,
        "proxy": new.proxy,
        "provider": new.provider,
        "folder": str(new.folder) if new.folder else None,
        "vendor_id": new.vendor_id,
        "endpoint": new.endpoint,
        "options": json.dumps(new.options) if new.options else None,
        "region": new.region,
        "max_active_runs": new.max_active_runs,
        "release_policy": new.release_policy,
        "allowed_actions": json.dumps(new.allowed_actions) if new.allowed_actions else None,
        "face": json.dumps(new.face) if new.face else None,
    }


def get(db: Database, profile_id: str) -> Row:
    """Read one profile; raises UsageError when there is none of that name."""
    profile = db.fetch_one("get_profile", id=profile_id)
    if profile is None:
        raise unknown(profile_id)
    return profile


def all_profiles(
    db: Database, *, state: str | None = None, account_id: str | None = None
) -> list[Row]:
    """List profiles with the number of their leases; those of a state or an account if named."""
    return db.fetch_all("list_profiles", state=state, account_id=account_id)


def unknown(profile_id: str) -> UsageError:
    """Say that there is no profile of that name."""
    return UsageError(f"there is no profile {profile_id}; see: launcher.py profiles list")


def history(db: Database, profile_id: str, limit: int) -> list[Row]:
    """Read what happened to a profile, the latest first; also of one that was removed."""
    found = db.fetch_all("events_of_profile", id=profile_id, limit=limit)
    if not found:
        get(db, profile_id)
    return found


def counts(db: Database) -> tuple[dict[str, int], int]:
    """Count the profiles of each state that has any, and the accounts that are paused."""
    found = {row["state"]: int(row["profiles"]) for row in db.fetch_all("count_profiles")}
    paused = int(db.fetch_all("count_paused_accounts")[0]["accounts"])
    return {state.value: found[state] for state in State if state in found}, paused


def set_state(db: Database, profile_id: str, state: State, *, reason: str, by: str) -> State:
    """Set a profile aside, or clear it, by hand; return the state it was in.

    Holds on it stay: whoever works there finishes, and the new state stands.
    """

    def write(tx: Transaction) -> State | None:
        found = tx.fetch_all("lock_profile", id=profile_id)
        if not found:
            return None
        old = State(found[0]["state"])
        if state is State.AVAILABLE:
            # On purpose: what is missing may be made anew, and what may run is known not to.
            presence.forget_missing(tx, profile_id)
            stop_tries.forget(tx, profile_id)
        if state is State.AVAILABLE and leases.of_profile(tx, profile_id):
            # It is free once those who hold it let go.
            events.move(tx, found[0], State.AVAILABLE, event="cleared", author=by, reason=reason)
            events.move(tx, found[0], State.LEASED, event="still_held", author=by, reason=reason)
            return old
        event = "cleared" if state is State.AVAILABLE else f"set_{state}"
        events.move(tx, found[0], state, event=event, author=by, reason=reason)
        return old

    with unchecked(db, profile_id):
        old = db.transaction(write)
    if old is None:
        get(db, profile_id)
    assert old is not None
    return old


def check_out(db: Database, profile_id: str, *, person: str, seconds: float, reason: str) -> int:
    """Give a profile to a person for a while; return the fence of the lease.

    A profile that is set aside, or whose account is paused, can be taken too and stays so. Raises
    UsageError with the reason when somebody else holds it, or it is disabled.
    """

    def take(tx: Transaction) -> int | NotReady:
        answer = resolve_for_person(tx, profile_id)
        if isinstance(answer, NotReady):
            tx.discard()
            return answer
        holder = Holder(person if not reason else f"{person} ({reason})")
        return leases.take(tx, answer, holder, lease_seconds=seconds, exclusive=True)

    get(db, profile_id)
    with unchecked(db, profile_id):
        answer = db.transaction(take)
    if isinstance(answer, NotReady):
        raise UsageError(f"{answer.closed_key.reason}; nothing was checked out")
    return answer


def give_back(db: Database, profile_id: str, *, by: str, review: str | None = None) -> None:
    """End a person's hold on a profile; raises UsageError when no person holds it."""
    get(db, profile_id)
    held = leases.of_profile(db, profile_id)
    mine = [row for row in held if row["is_person"]]
    if not mine:
        raise UsageError(f"profile {profile_id} is not checked out by anybody")
    lease_endings.release(
        db, profile_id, mine[0]["fence"], author=by, reason="returned", review=review
    )


def all_accounts(db: Database) -> list[Row]:
    """List accounts with the number of their profiles."""
    return db.fetch_all("list_accounts")


def add_account(db: Database, account_id: str, *, by: str) -> bool:
    """Add an account; return whether it is new."""
    is_new = db.execute("add_account", id=account_id) == 1
    if is_new:
        events.record(db, "account_added", author=by, reason="by hand", account_id=account_id)
    return is_new


def pause_account(db: Database, account_id: str, *, reason: str, by: str) -> None:
    """Start no more jobs for an account; jobs that run now are finished."""
    if db.execute("pause_account", id=account_id, reason=reason[:255], author=by[:255]) == 0:
        raise _unknown_account(account_id)
    events.record(db, "account_paused", author=by, reason=reason, account_id=account_id)


def resume_account(db: Database, account_id: str, *, by: str) -> bool:
    """Let an account be used again; tell whether it was paused."""
    if db.execute("resume_account", id=account_id) == 1:
        events.record(db, "account_resumed", author=by, reason="by hand", account_id=account_id)
        return True
    check_account(db, account_id)
    return False


def check_account(db: Database, account_id: str) -> None:
    """Raise UsageError when there is no account of that name."""
    if db.fetch_one("get_account", id=account_id) is None:
        raise _unknown_account(account_id)


def _unknown_account(account_id: str) -> UsageError:
    return UsageError(f"there is no account {account_id}; see: launcher.py accounts list")
