"""Back up a local profile's folder, and put a backup in its place, while nobody else holds it.

What can be refused is refused before the profile is held: a hold takes the next fence. The old
folder stays until the new one is whole on disk.
"""

from __future__ import annotations

import os
import shlex
import shutil
import socket
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from worker.browser.providers import profile_lock
from worker.browser.providers.spec import LOCAL
from worker.database.client import Database, Row
from worker.errors import ProviderError, UsageError
from worker.installation import command_line
from worker.profiles import backup_file, errands, folders, hosts, presence, store
from worker.profiles.backup_file import About
from worker.system.swap_folders import swap_in

# What is told of the profile; the file says whose it is and what it was like, and changes no field.
FIELDS = (
    *("account_id", "proxy", "provider", "region", "max_active_runs", "release_policy"),
    *("allowed_actions", "folder"),
)


@dataclass(frozen=True, slots=True)
class Taken:
    """A backup that was written; `links` counts what was left out."""

    path: Path
    about: About
    links: int


def back_up(db: Database, profile_id: str, path: Path | None, *, by: str) -> Taken:
    """Write a local profile's folder into a file of its own; raises UsageError.

    Without a path it is named after the profile and its fence, in the current folder.
    """
    profile = _usable(db, profile_id, "backed up")
    folder = _folder_of(profile)
    if not folder.is_dir():
        raise UsageError(
            f"profile {profile_id} has no folder {folder} on this machine; nothing was backed up"
        )
    if path is not None:
        _require_new(path)
    with errands.errand(db, profile_id, by=by, reason="backup") as held:
        target = path or Path(f"{profile_id.replace('/', '_')}-{held.fence}.tar")
        _require_new(target)
        fields = {name: profile[name] for name in FIELDS}
        about = About(profile_id, held.fence, _now(db), socket.gethostname(), fields)
        try:
            content = backup_file.content_of(folder)
            about = replace(about, files=len(content.files), bytes=content.size())
            backup_file.write(target, folder, content, about)
        except OSError as error:
            raise UsageError(
                f"{error.filename or target}: {error.strerror}; nothing was backed up"
            ) from error
    return Taken(target, about, content.links)


def restore(
    db: Database, profile_id: str, path: Path, *, by: str, of: str | None, force: bool
) -> About:
    """Put a backup's files in the place of a local profile's folder; raises UsageError.

    `of` names another profile whose backup it may be, `force` brings an older state back.
    """
    about = backup_file.read(path)
    profile = _usable(db, profile_id, "restored", about)
    _require_own(about, profile_id, of)
    folder = _folder_of(profile)
    if about.profile_id == profile_id and about.fence < profile["fence"] and not force:
        raise UsageError(
            f"{path} was taken at fence {about.fence}, and profile {profile_id} has been used "
            f"since (fence {profile['fence']}); nothing was restored. Its old cookies would come "
            f"back, and what sites gave it since would be lost: add --force if you want that"
        )
    folders.require_replaceable(folder, profile_id, store.all_profiles(db))
    new = folder.with_name(f".{folder.name}.restoring")
    with errands.errand(db, profile_id, by=by, reason="restore") as held:
        if held.fence != profile["fence"] + 1:
            raise UsageError(
                f"profile {profile_id} was used just now; nothing was restored: try again"
            )
        try:
            _unpack(path, new)
            errands.require_held(db, profile_id, held.fence)
            old = swap_in(new, folder)
        except OSError as error:
            raise UsageError(
                f"{folder} cannot be replaced ({error.strerror}); it is as it was"
            ) from error
        finally:
            _remove_parts(new)
        if old is not None:
            shutil.rmtree(old, ignore_errors=True)
        hosts.adopt(db, profile, by=by)
        # What was missing before may be there again.
        presence.note(db, profile)
    return about


def _usable(db: Database, profile_id: str, what: str, about: About | None = None) -> Row:
    """Read a local profile that nobody holds and no browser uses; raises UsageError."""
    try:
        profile = store.get(db, profile_id)
    except UsageError as error:
        if about is None:
            raise
        raise UsageError(
            f"there is no profile {profile_id}; add it first: {_adding(profile_id, about)}"
        ) from error
    if profile["provider"] != LOCAL:
        raise UsageError(
            f"profile {profile_id} is {profile['provider']}'s, and its files are not on this "
            f"machine; nothing was {what}"
        )
    errands.require_here(profile, what)
    errands.require_free(db, profile_id, what)
    try:
        profile_lock.make_sure_unused(_folder_of(profile), f"profile {profile_id}", LOCAL)
    except ProviderError as error:
        raise UsageError(f"{error}; nothing was {what}") from error
    return profile


def _folder_of(profile: Row) -> Path:
    return Path(profile["folder"]).resolve()


def _require_new(path: Path) -> None:
    if path.exists():
        raise UsageError(f"{path} exists already; name another file with -o")


def _require_own(about: About, profile_id: str, of: str | None) -> None:
    expected = of or profile_id
    if about.profile_id != expected:
        raise UsageError(
            f"it is a backup of profile {about.profile_id}, not of {expected}; nothing was "
            f"restored. To give {profile_id} its cookies: --of {shlex.quote(about.profile_id)}"
        )


def _adding(profile_id: str, about: About) -> str:
    """Write the command that makes a profile as it was when the backup was taken."""
    flags = {"account_id": "--account", "proxy": "--proxy", "region": "--region"}
    told = [
        word
        for name, flag in flags.items()
        if (value := about.fields.get(name))
        for word in (flag, value)
    ]
    return command_line("profiles", "add", profile_id, *told)


def _unpack(path: Path, new: Path) -> None:
    # What a killed restore has left.
    shutil.rmtree(new, ignore_errors=True)
    new.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    backup_file.unpack(path, new)
    # All of it is on disk before anything goes.
    os.sync()


def _remove_parts(new: Path) -> None:
    if new.exists():
        shutil.rmtree(new, ignore_errors=True)


def _now(db: Database) -> str:
    moment: Any = db.fetch_all("database_time")[0]["now"]
    return f"{moment.isoformat(timespec='seconds')}Z"
