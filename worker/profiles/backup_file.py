"""The file of a backup: a tar with a page about the profile, then the files of its folder.

Nothing of a file is trusted: only plain files and folders below `profile/` are taken out of it, by
names that stay there, and only if all that the page announces is there.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import stat
import tarfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from worker.browser.providers.profile_lock import SINGLETON_FILES
from worker.errors import UsageError
from worker.system.durable_file import whole_file

FORMAT = 1
ABOUT, ROOT = "nightshift.json", "profile"
MAX_ABOUT_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class About:
    """What a backup says of itself; `fields` are those that the profile had then."""

    profile_id: str
    # Of the hold under which it was taken: a profile with a higher one has been used since.
    fence: int
    taken_at: str
    host: str
    fields: dict[str, Any]
    files: int = 0
    bytes: int = 0
    format: int = FORMAT


@dataclass(frozen=True, slots=True)
class Content:
    """What is in a profile's folder: files and folders, and how many links cannot be kept."""

    folders: list[Path]
    files: list[Path]
    links: int

    def size(self) -> int:
        """Add up the bytes of all files; raises OSError."""
        return sum(file.lstat().st_size for file in self.files)


def content_of(folder: Path) -> Content:
    """List what can be kept of a folder; the locks and sockets of a browser are left out."""
    folders, files, links = [], [], 0
    for path in sorted(_walk(folder)):
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode):
            folders.append(path)
        elif stat.S_ISREG(mode):
            files.append(path)
        elif stat.S_ISLNK(mode) and path.name not in SINGLETON_FILES:
            links += 1
    return Content(folders, files, links)


def write(path: Path, folder: Path, content: Content, about: About) -> None:
    """Write a backup that only its owner may read, in full or not at all; raises OSError."""
    # A fixed name, so that the next backup removes what a killed one has left: it is large.
    partial = path.with_name(f".{path.name}.partial")
    with whole_file(path, partial) as file, tarfile.open(fileobj=file, mode="w") as tar:
        _add_all(tar, folder, content, about)


def read(path: Path) -> About:
    """Check a backup from end to end and return what it is; raises UsageError."""
    try:
        with tarfile.open(path, "r:") as tar:
            about, files, size = None, 0, 0
            for member in tar:
                if about is None:
                    about = _about(tar, member)
                else:
                    _check(member)
                    files, size = files + member.isreg(), size + member.size
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except tarfile.TarError as error:
        raise UsageError(f"{path} is no whole backup of a profile: {error}") from error
    except BadBackup as error:
        raise UsageError(f"{path} {error}; nothing was restored") from error
    if about is None or (about.files, about.bytes) != (files, size):
        raise UsageError(f"{path} is no whole backup of a profile: files are missing")
    return about


def unpack(path: Path, target: Path) -> None:
    """Take a checked backup's files out into a new folder; raises OSError or UsageError."""
    target.mkdir(mode=0o700)
    try:
        with tarfile.open(path, "r:") as tar:
            for member in tar:
                if member.name != ABOUT:
                    _take_out(tar, member, target)
    except (BadBackup, tarfile.TarError) as error:
        # It was another file when it was checked.
        raise UsageError(f"{path} has changed: {error}; nothing was restored") from error


class BadBackup(Exception):
    """What a file holds that no backup does."""


def _walk(folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        for entry in entries:
            yield Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(Path(entry.path))


def _add_all(tar: tarfile.TarFile, folder: Path, content: Content, about: About) -> None:
    page = json.dumps(asdict(about), indent=2).encode() + b"\n"
    header = tarfile.TarInfo(ABOUT)
    header.size, header.mode = len(page), 0o600
    tar.addfile(header, io.BytesIO(page))
    for path in content.folders:
        tar.addfile(_member(path, folder, tarfile.DIRTYPE, 0o700))
    for path in content.files:
        with path.open("rb") as file:
            tar.addfile(_member(path, folder, tarfile.REGTYPE, 0o600), file)


def _member(path: Path, folder: Path, kind: bytes, mode: int) -> tarfile.TarInfo:
    found = path.lstat()
    member = tarfile.TarInfo(f"{ROOT}/{path.relative_to(folder)}")
    member.type, member.mode, member.mtime = kind, mode, int(found.st_mtime)
    member.size = found.st_size if kind == tarfile.REGTYPE else 0
    return member


def _about(tar: tarfile.TarFile, member: tarfile.TarInfo) -> About:
    if member.name != ABOUT or not member.isreg() or member.size > MAX_ABOUT_BYTES:
        raise BadBackup("is no backup of a profile")
    file = tar.extractfile(member)
    assert file is not None
    try:
        page = json.load(file)
        about = About(**page)
    except (ValueError, TypeError, RecursionError) as error:
        raise BadBackup("is no backup of a profile that this version can read") from error
    kinds = (about.fence, int), (about.profile_id, str), (about.fields, dict)
    if about.format != FORMAT or not all(isinstance(value, kind) for value, kind in kinds):
        raise BadBackup("is no backup of a profile that this version can read")
    return about


def _check(member: tarfile.TarInfo) -> None:
    """Refuse whatever is no plain file or folder below the root, or would be put elsewhere."""
    path = PurePosixPath(member.name)
    name = member.name[:100]
    if path.is_absolute() or ".." in path.parts or "\0" in member.name:
        raise BadBackup(f"holds {name!r}, which leads out of the profile's folder")
    if member.issym() or member.islnk():
        raise BadBackup(f"holds {name!r}, a link, which may lead out of the profile's folder")
    if not (member.isreg() or member.isdir()):
        raise BadBackup(f"holds {name!r}, which is neither a file nor a folder")
    if path.parts[:1] != (ROOT,):
        raise BadBackup(f"holds {name!r}, which is no part of a profile")


def _take_out(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    _check(member)
    place = target.joinpath(*PurePosixPath(member.name).parts[1:])
    if member.isdir():
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        return
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    source = tar.extractfile(member)
    assert source is not None
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(place, flags, 0o600), "wb") as file:
        shutil.copyfileobj(source, file)
    os.utime(place, (member.mtime, member.mtime))
