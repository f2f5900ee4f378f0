"""Which host a local profile lives on: its folder is there and nowhere else.

It is the host it was added on. One from before hosts were kept, or handed over to a mere name,
belongs to the first host that opens it. Vendors' and cdp profiles live nowhere in particular.
"""

from __future__ import annotations

from pathlib import Path

from worker.browser.providers.spec import LOCAL
from worker.database.client import Database, Row, Transaction
from worker.errors import UsageError
from worker.installation import command_line
from worker.profiles import caretaker, events, folders, leases
from worker.system.identity import Host, this_host


def home_of(provider: str) -> dict[str, str | None]:
    """Say in columns where a profile lives that is added here."""
    here = this_host()
    is_local = provider == LOCAL
    return {"host": here.name if is_local else None, "host_id": here.id if is_local else None}


def elsewhere(profile: Row) -> str | None:
    """Say why a profile cannot be opened on this host, if it lives on another."""
    if profile["provider"] != LOCAL:
        return None
    here, name = this_host(), f"profile {profile['id']}"
    if profile["host"] is None:
        if not profile["fence"] or _has_folder(profile):
            return None
        return (
            f"{name} was used before and its folder {profile['folder']} is not on {here.name}; "
            f"it belongs to the first host that has it"
        )
    if profile["host"] != here.name:
        return f"{name} lives on {profile['host']}"
    if profile["host_id"] in (None, here.id):
        return None
    return f"{name} lives on another machine of the name {here.name}"


def is_here(profile: Row) -> bool:
    """Tell whether a profile can be opened on this host."""
    return elsewhere(profile) is None


def adopt(db: Database, profile: Row, *, by: str) -> None:
    """Let a profile that is about to be opened here live here, if it has no host yet.

    Whoever calls it holds the profile's lease.
    """
    if profile["provider"] != LOCAL or None not in (profile["host"], profile["host_id"]):
        return
    here = this_host()
    events.record(
        db,
        "adopted",
        author=by,
        reason=f"it lives on {here.name}, the first host that opened it",
        profile_id=profile["id"],
        account_id=profile["account_id"],
    )
    _settle(db, profile["id"], here)


def move(db: Database, profile_id: str, host: str | None, *, by: str) -> Row:
    """Hand a local profile over to a host by its name, or to this one; return what it was.

    Raises UsageError with the reason when it cannot be moved now: then nothing is written.
    """

    def write(tx: Transaction) -> Row:
        found = tx.fetch_all("lock_profile", id=profile_id)
        if not found:
            raise UsageError(f"there is no profile {profile_id}; see: launcher.py profiles list")
        profile = found[0]
        _require_movable(tx, profile)
        here = this_host()
        goal = here if host in (None, here.name) else Host(str(host), "")
        is_known = goal is here
        if profile["host"] == goal.name and (not is_known or profile["host_id"] == goal.id):
            raise UsageError(f"profile {profile_id} lives on {goal.name} already; nothing was done")
        everyone = tx.fetch_all("list_profiles", state=None, account_id=None)
        folders.require_room(profile, everyone, goal.name)
        events.record(
            tx,
            "moved",
            author=by,
            reason=f"{profile['host'] or 'no host yet'} → {goal.name}",
            profile_id=profile_id,
            account_id=profile["account_id"],
        )
        # Only its name is known of another host: the first of that name takes it over.
        _settle(tx, profile_id, goal, has_id=is_known)
        return profile

    return db.transaction(write)


def has_had_runs(db: Database, host: str) -> bool:
    """Tell whether there ever was a run on a host of that name."""
    return bool(db.fetch_all("runs_of_host", host=host)[0]["runs"])


def _require_movable(tx: Transaction, profile: Row) -> None:
    name = profile["id"]
    if profile["provider"] != LOCAL:
        raise UsageError(
            f"profile {name} is no folder of a host: {profile['provider']} has it; nothing was done"
        )
    if held := leases.of_profile(tx, name):
        raise UsageError(f"profile {name} is in use by {held[0]['holder']}; nothing was done")
    is_stale = profile["state"] == "stale"
    if is_stale or caretaker.is_unstopped(tx, name):
        raise UsageError(
            f"profile {name} is {profile['state']}: its browser may still run on "
            f"{profile['host']}; if nothing runs there: {command_line('profiles', 'clear', name)} "
            f"--reason …; nothing was done"
        )


def _settle(writer: events.Writer, profile_id: str, host: Host, *, has_id: bool = True) -> None:
    writer.execute(
        "settle_profile", id=profile_id, host=host.name, host_id=host.id if has_id else None
    )


def _has_folder(profile: Row) -> bool:
    return profile["folder"] is None or Path(profile["folder"]).is_dir()
