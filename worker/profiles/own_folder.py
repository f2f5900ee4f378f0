"""Whether a local profile's folder is still its own, which is looked at before it is opened.

Folders are stored without links. One that has become a link, or is or lies in another profile's,
would show one account's cookies as another's: the profile is put up for review instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from worker.browser.providers.spec import LOCAL
from worker.database.client import Database, Row
from worker.errors import ProviderError
from worker.installation import command_line
from worker.system.identity import this_host

# What Chromium keeps cookies and storage in, within its folder.
_INNER = "Default"

# A file or folder, by whatever path it is reached.
Identity = tuple[int, int]


def require(db: Database, profile: Row) -> None:
    """Raise ProviderError when a profile's folder is not its own.

    Whoever calls it holds the profile's lease, and releases it for a review then.
    """
    if profile["provider"] != LOCAL or profile["folder"] is None:
        return
    others = db.fetch_all("local_folders", host=this_host().name)
    if problem := problem_of(profile, others):
        raise ProviderError(problem, provider=LOCAL, kind="shared")


def problems(db: Database) -> list[str]:
    """Say what is wrong with the folders of this host's profiles."""
    rows = db.fetch_all("local_folders", host=this_host().name)
    return [problem for row in rows if (problem := problem_of(row, rows))]


def problem_of(profile: Row, others: Iterable[Row]) -> str | None:
    """Say why a profile's folder is not its own, if that can be seen."""
    folder = Path(profile["folder"])
    name = f"profile {profile['id']}"
    for path in (folder, folder / _INNER):
        if path.is_symlink():
            return (
                f"{name}: {path} is a link to {path.readlink()} now; put its own folder back, or "
                f"name the place it has: "
                f"{command_line('profiles', 'set', profile['id'])} --folder …"
            )
    # One that is a link is not opened itself, and takes nothing from who has the folder.
    owners = {
        found: row["id"]
        for row in others
        if row["id"] != profile["id"]
        and not Path(row["folder"]).is_symlink()
        and (found := _identity(Path(row["folder"])))
    }
    if not owners:
        return None
    for path in (folder / _INNER, folder, *folder.parents):
        if (found := _identity(path)) in owners:
            return f"{name}: {path} is the folder of profile {owners[found]} too; separate them"
    return None


def _identity(path: Path) -> Identity | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
