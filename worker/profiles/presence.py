"""Whether a local profile's folder still holds what it held when it was last closed.

A folder that has vanished, or lost its cookies, is never silently made anew: whoever finds that
puts the profile up for review. A profile that was never opened has nothing to lose.
"""

from __future__ import annotations

from pathlib import Path

from worker.browser.providers.profile_folder import Contents, contents_of
from worker.browser.providers.spec import LOCAL
from worker.database.client import Database, Row, Transaction
from worker.errors import ProviderError
from worker.system.identity import this_host

MISSING = "missing"


def require(db: Database, profile: Row) -> None:
    """Raise ProviderError, and remember it, when something of a profile is missing.

    Whoever calls it holds the profile's lease, and releases it for a review then.
    """
    if profile["provider"] != LOCAL or (problem := _missing(profile)) is None:
        return
    db.execute("note_contents", id=profile["id"], contents=MISSING)
    raise ProviderError(problem, provider=LOCAL, kind="missing")


def opened(db: Database, profile: Row) -> None:
    """Keep that a profile has a folder now, the first time that it is opened."""
    if profile["provider"] == LOCAL and profile["contents"] == Contents.NONE:
        db.execute("note_contents", id=profile["id"], contents=Contents.FOLDER.value)
        profile["contents"] = Contents.FOLDER.value


def note(db: Database, profile: Row) -> None:
    """Keep what a profile's folder holds, after its browser was closed; seldom writes anything."""
    if profile["provider"] != LOCAL or profile["folder"] is None:
        return
    try:
        contents = contents_of(Path(profile["folder"]))
    except OSError:
        return
    if contents is not Contents.NONE and contents != profile["contents"]:
        db.execute("note_contents", id=profile["id"], contents=contents.value)


def forget_missing(tx: Transaction, profile_id: str) -> bool:
    """Let a profile be made anew on purpose; tell whether something of it was missing."""
    return tx.execute("forget_missing_contents", id=profile_id) == 1


def _missing(profile: Row) -> str | None:
    had, folder = profile["contents"], profile["folder"]
    if had == Contents.NONE or folder is None:
        return None
    name, host = f"profile {profile['id']}", this_host().name
    try:
        found = contents_of(Path(folder))
    except OSError as error:
        return f"{name}: its folder {folder} cannot be read on {host} ({error.strerror})"
    if found is Contents.NONE:
        return f"{name}: its folder {folder} is missing or empty on {host}, and it had one before"
    if had == Contents.COOKIES and found is not Contents.COOKIES:
        return f"{name}: its folder {folder} on {host} has lost its cookies, and it had some before"
    if had == MISSING:
        return f"{name}: something of its folder {folder} was missing before"
    return None
