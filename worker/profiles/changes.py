"""Change and remove profiles by hand: only profiles that nobody holds, under the profile's lock.

A profile keeps its folder or endpoint until what its last holder left running has been stopped
there. A profile that pending jobs ask for is not removed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from worker.database.client import Database, Row, Transaction
from worker.errors import UsageError
from worker.guards import breakers
from worker.installation import command_line
from worker.profiles import caretaker, events, leases, store
from worker.profiles.sole_check import unchecked
from worker.profiles.states import State
from worker.profiles.store import NewProfile

PLACE = frozenset({"folder", "vendor_id", "endpoint", "options"})


@dataclass(frozen=True, slots=True)
class Revision:
    """The new version of a profile, and its changes field by field, without secrets."""

    profile: NewProfile
    changes: dict[str, str]

    def __str__(self) -> str:
        return ", ".join(f"{name} {change}" for name, change in self.changes.items())


def change(
    db: Database, profile_id: str, revise: Callable[[Row], Revision], *, by: str
) -> Revision:
    """Change a profile that nobody holds, and remember it; `revise` may be called again.

    Raises UsageError with the reason when it cannot be changed now: then nothing is written.
    """

    def write(tx: Transaction) -> Revision:
        profile = _locked(tx, profile_id)
        revision = revise(profile)
        if not revision.changes:
            return revision
        if PLACE & revision.changes.keys():
            _require_stopped(tx, profile)
        new = revision.profile
        if new.account_id != profile["account_id"]:
            _require_spare(tx, profile, "moved")
            if new.account_id is not None:
                tx.execute("add_account", id=new.account_id)
        tx.execute("change_profile", **store.columns(new))
        events.record(
            tx,
            "changed",
            author=by,
            reason=str(revision),
            profile_id=profile_id,
            account_id=new.account_id,
        )
        return revision

    with unchecked(db, profile_id):
        return db.transaction(write)


def check_removable(db: Database, profile_id: str) -> Row:
    """Read a profile that could be removed now; raises UsageError with the reason if not."""

    def look(tx: Transaction) -> Row:
        tx.discard()
        return _removable(tx, profile_id)

    return db.transaction(look)


def remove(db: Database, profile_id: str, *, by: str) -> None:
    """Forget a profile and its breaker; its events stay, and so does its browser's folder.

    Raises UsageError with the reason when it cannot be removed now.
    """

    def write(tx: Transaction) -> None:
        profile = _removable(tx, profile_id)
        tx.execute("remove_profile", id=profile_id)
        breakers.forget(tx, f"profile:{profile_id}")
        events.record(
            tx,
            "removed",
            author=by,
            reason=f"by hand; its folder stays: {profile['folder']}"
            if profile["folder"]
            else "by hand",
            profile_id=profile_id,
            account_id=profile["account_id"],
            old=State(profile["state"]),
        )

    with unchecked(db, profile_id):
        db.transaction(write)


def _locked(tx: Transaction, profile_id: str) -> Row:
    """Lock a profile that nobody holds."""
    found = tx.fetch_all("lock_profile", id=profile_id)
    if not found:
        raise store.unknown(profile_id)
    held = leases.of_profile(tx, profile_id)
    if held:
        remedy = "wait until the job is done"
        if held[0]["is_person"]:
            remedy = f"return it first: {command_line('profiles', 'return', profile_id)}"
        raise UsageError(f"profile {profile_id} is in use by {held[0]['holder']}; {remedy}")
    return found[0]


def _removable(tx: Transaction, profile_id: str) -> Row:
    profile = _locked(tx, profile_id)
    _require_stopped(tx, profile)
    rows = tx.fetch_all("jobs_waiting_for_profile", profile=profile_id, account=None)
    if jobs := int(rows[0]["jobs"]):
        raise UsageError(
            f"profile {profile_id} is named by {_pending(jobs, rows[0]['first_id'])}; nothing was "
            f"removed. List them: SELECT id FROM work_queue WHERE status = 'pending' "
            f"AND profile = '{profile_id}'"
        )
    _require_spare(tx, profile, "removed")
    return profile


def _require_stopped(tx: Transaction, profile: Row) -> None:
    """Refuse while what the last holder left running is still to be stopped, where it is."""
    is_stale = State(profile["state"]) is State.STALE
    if is_stale or caretaker.is_unstopped(tx, profile["id"]):
        raise UsageError(
            f"profile {profile['id']} is {profile['state']}, and what its last holder left running "
            f"is still to be stopped by a worker; if nothing runs there: "
            f"{command_line('profiles', 'clear', profile['id'])} --reason …"
        )


def _require_spare(tx: Transaction, profile: Row, what: str) -> None:
    """Refuse to take an account's last profile away from jobs that wait for any of them.

    Without profiles an account's jobs run in the ordinary browser: nobody wants that by accident.
    """
    account = profile["account_id"]
    if account is None or len(tx.fetch_all("profiles_of_account", account_id=account)) > 1:
        return
    rows = tx.fetch_all("jobs_waiting_for_profile", profile=None, account=account)
    if jobs := int(rows[0]["jobs"]):
        raise UsageError(
            f"profile {profile['id']} is the only one of account {account}; nothing was {what}, "
            f"because without it {_pending(jobs, rows[0]['first_id'])} would run in the "
            f"ordinary browser"
        )


def _pending(jobs: int, first_id: int) -> str:
    such = f"see {command_line('show', first_id)}"
    return f"1 pending job ({such})" if jobs == 1 else f"{jobs:,} pending jobs (the first: {such})"
