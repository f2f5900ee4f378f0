"""Which folders local profiles may have: no two of a host share one, or a part of one.

Folders are compared as they really are, without links and detours: what holds or replaces one
profile's folder must never reach another's.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from worker.browser.providers.spec import LOCAL
from worker.database.client import Row
from worker.errors import UsageError
from worker.installation import command_line
from worker.system.identity import this_host

# What Chromium makes in every folder of its own; one of them is enough to know it by.
_BROWSERS_OWN = ("Local State", "Default", "First Run")


@dataclass(slots=True)
class TakenFolders:
    """The folders of profiles, resolved, and the folders that these lie in."""

    owners: dict[Path, str] = field(default_factory=dict)
    around: dict[Path, str] = field(default_factory=dict)

    def note(self, folder: Path, profile_id: str) -> None:
        self.owners[folder] = profile_id
        for parent in folder.parents:
            self.around.setdefault(parent, profile_id)

    def problem_of(self, folder: Path) -> str | None:
        """Say whose folder this one is, contains or lies in, if there is such a profile."""
        if owner := self.owners.get(folder):
            return f"profile {owner} already uses that browser; a browser belongs to one profile"
        if owner := self.around.get(folder):
            return f"folder {folder} contains the folder of profile {owner}"
        for parent in folder.parents:
            if owner := self.owners.get(parent):
                return f"folder {folder} lies in the folder of profile {owner}, {parent}"
        return None


def taken_by(profiles: Iterable[Row], *, host: str | None = None) -> TakenFolders:
    """Collect the folders of a host's local profiles, or of this one's.

    A profile that has no host yet may come to live on any.
    """
    goal = host or this_host().name
    taken = TakenFolders()
    for row in profiles:
        if row["provider"] == LOCAL and row["folder"] and row["host"] in (None, goal):
            taken.note(_as_on(goal, row["folder"]), row["id"])
    return taken


def require_room(profile: Row, profiles: Iterable[Row], host: str) -> None:
    """Refuse a local profile a host where its folder is, or reaches, another's; UsageError."""
    others = taken_by((row for row in profiles if row["id"] != profile["id"]), host=host)
    folder = profile["folder"]
    if folder and (problem := others.problem_of(_as_on(host, folder))):
        raise UsageError(f"on {host} {problem}; nothing was done")


def resolved(folder: Path) -> Path:
    """Follow all links and detours of a path, as far as it exists; raises UsageError."""
    try:
        return folder.resolve()
    except (OSError, RuntimeError) as error:
        raise UsageError(f"folder {folder} cannot be looked at: {error}") from error


def require_fit(folder: Path, profiles_dir: Path) -> None:
    """Refuse what can be no profile's folder: a file, or what holds all of them; UsageError.

    `profiles_dir` is where profiles are that did not choose a folder, in the state folder.
    """
    home = resolved(profiles_dir)
    if folder in (home, *home.parents):
        raise UsageError(f"folder {folder} holds more than one profile; choose one inside it")
    try:
        found = next(path for path in (folder, *folder.parents) if path.exists())
        is_folder = found.is_dir()
    except OSError as error:
        raise UsageError(f"folder {folder} cannot be looked at: {error.strerror}") from error
    if not is_folder:
        raise UsageError(f"folder {folder} cannot be made: {found} is a file")


def require_replaceable(folder: Path, profile_id: str, profiles: Iterable[Row]) -> None:
    """Refuse to replace a folder that holds anything but this profile's browser; UsageError."""
    others = taken_by(row for row in profiles if row["id"] != profile_id)
    if problem := others.problem_of(folder):
        raise UsageError(f"{problem}; nothing was restored. {_another(profile_id)}")
    try:
        is_free = not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    except OSError as error:
        raise UsageError(
            f"folder {folder} cannot be looked at: {error.strerror}; nothing was restored"
        ) from error
    if not is_free and not any((folder / name).exists() for name in _BROWSERS_OWN):
        raise UsageError(
            f"folder {folder} is no browser's and not empty; nothing was restored. Move what is "
            f"in it away, or: {_another(profile_id)}"
        )


def _another(profile_id: str) -> str:
    return f"Give the profile another: {command_line('profiles', 'set', profile_id)} --folder …"


def _as_on(host: str, folder: str) -> Path:
    """Say where a folder really is; another host's links cannot be followed from here."""
    if host == this_host().name:
        return resolved(Path(folder))
    return Path(os.path.normpath(folder))
