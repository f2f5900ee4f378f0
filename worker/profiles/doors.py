"""Whose door a job goes out by: its profile's proxy, or its account's, never another account's.

Where there are proxies, a profile names its own or says `none`: then it goes out directly. One that
says neither has no door yet.
"""

from __future__ import annotations

from worker.database.client import Database, Row
from worker.installation import command_line
from worker.proxies import choice, store
from worker.proxies.blocks import cools
from worker.proxies.choice import Choice
from worker.proxies.proxy import DIRECT

_DIRECTLY = Choice(None)


def not_chosen(profile_id: str) -> str:
    """Say that a profile has no door, and how it gets one."""
    return (
        f"profile {profile_id} says neither which proxy it uses nor that it goes out directly; "
        f"say it: {command_line('profiles', 'set', profile_id)} --proxy NAME (or none)"
    )


def unchosen(db: Database) -> list[str]:
    """List the profiles that have no door although there are proxies."""
    return [row["id"] for row in db.fetch_all("unchosen_profiles")]


def of_job(db: Database, profile_id: str | None, account_id: str | None, site: str) -> Choice:
    """Find the door of a job that is done outside of its profile; a reason where it cannot go."""
    if profile_id is not None:
        profile = db.fetch_one("get_profile", id=profile_id)
        if profile is None:
            # Any other way out would be somebody else's.
            return Choice(None, f"profile {profile_id} does not exist")
        return of_profile(db, profile, site)
    return choice.look(db, site=site) if account_id is None else of_account(db, account_id, site)


def of_profile(db: Database, profile: Row, site: str = "") -> Choice:
    """Find the proxy of a profile, or that it goes out directly; a reason where it has neither."""
    name, owner = profile["proxy"], profile["id"]
    if name == DIRECT:
        return _DIRECTLY
    if name is None:
        return Choice(None, not_chosen(owner)) if db.fetch_all("any_proxy") else _DIRECTLY
    rows = db.fetch_all("proxy_of_profile", name=name, site=site)
    who = f"proxy {name} of profile {owner}"
    if trouble := choice.trouble(who, rows[0] if rows else None, profile["region"]):
        return Choice(None, trouble.reason, trouble.seconds)
    if (seconds := float(rows[0]["site_seconds"])) > 0:
        return Choice(None, cools("profile", owner, name, site), seconds)
    return Choice(store.named(db, (name,))[0])


def of_account(db: Database, account_id: str, site: str = "") -> Choice:
    """Find the door of an account: that of its first profile with one, or the proxy it keeps."""
    profiles = db.fetch_all("list_profiles", state=None, account_id=account_id)
    if not profiles:
        return choice.look(db, account_id=account_id, site=site)
    found = [of_profile(db, profile, site) for profile in profiles]
    return next((each for each in found if not each.reason), found[0])
