"""The file of a backup: what gets in, what comes out, and what is never taken out of one."""

from __future__ import annotations

import io
import json
import os
import socket
import tarfile
from dataclasses import asdict

import pytest

from worker.errors import UsageError
from worker.profiles import backup_file
from worker.profiles.backup_file import ABOUT, About

WHO = About("p1", 7, "2026-01-31T02:14:07Z", "night-1", {"proxy": "berlin"})


@pytest.fixture
def folder(tmp_path):
    """A profile's folder with files, an empty folder, a browser's lock and socket, and a link."""
    folder = tmp_path / "p1"
    (folder / "Default" / "Empty").mkdir(parents=True)
    (folder / "Default" / "Cookies").write_bytes(b"sid")
    (folder / "Local State").write_bytes(b"{}")
    (folder / "SingletonLock").symlink_to("night-1-77")
    (folder / "away").symlink_to("/etc/passwd")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(folder / "SingletonSocket"))
    return folder


@pytest.fixture
def backup(folder, tmp_path):
    content = backup_file.content_of(folder)
    about = About(**asdict(WHO) | {"files": 2, "bytes": 5})
    backup_file.write(tmp_path / "b.tar", folder, content, about)
    return tmp_path / "b.tar"


def forge(path, *members, about=None):
    """Write a tar that says it is a backup and holds these members besides."""
    page = json.dumps(asdict(WHO) | {"files": 0, "bytes": 0} | (about or {})).encode()
    with tarfile.open(path, "w") as tar:
        first = tarfile.TarInfo(ABOUT)
        first.size = len(page)
        tar.addfile(first, io.BytesIO(page))
        for member in members:
            tar.addfile(member)
    return path


def member(name, kind=tarfile.REGTYPE, linkname=""):
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, linkname
    return made


def test_what_was_in_the_folder_comes_out_again_without_locks_links_and_sockets(
    folder, backup, tmp_path
):
    assert backup_file.content_of(folder).links == 1
    assert backup_file.read(backup).fence == 7

    backup_file.unpack(backup, tmp_path / "new")

    found = {str(path.relative_to(tmp_path / "new")) for path in (tmp_path / "new").rglob("*")}
    assert found == {"Default", "Default/Empty", "Default/Cookies", "Local State"}
    assert (tmp_path / "new/Default/Cookies").read_bytes() == b"sid"


def test_a_backup_and_what_comes_out_of_it_are_their_owners_alone(backup, tmp_path):
    before = os.umask(0)
    try:
        backup_file.unpack(backup, tmp_path / "new")
    finally:
        os.umask(before)

    assert backup.stat().st_mode & 0o777 == 0o600
    new = tmp_path / "new"
    for path in (new, *new.rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (member("profile/../../evil"), "leads out"),
        (member("/etc/cron.d/evil"), "leads out"),
        (member("../evil"), "leads out"),
        (member("profile/x", tarfile.SYMTYPE, "/etc/passwd"), "a link"),
        (member("profile/x", tarfile.LNKTYPE, "../../evil"), "a link"),
        (member("profile/x", tarfile.CHRTYPE), "neither a file nor a folder"),
        (member("profile/x", tarfile.FIFOTYPE), "neither a file nor a folder"),
        (member("elsewhere/x"), "no part of a profile"),
    ],
)
def test_a_tar_that_leads_out_is_refused_and_nothing_is_taken_out_of_it(tmp_path, bad, why):
    path = forge(tmp_path / "b.tar", bad, about={"files": int(bad.isreg())})

    with pytest.raises(UsageError, match=why):
        backup_file.read(path)
    # Also when the file was another one while it was checked.
    with pytest.raises(UsageError, match=why):
        backup_file.unpack(path, tmp_path / "new")
    assert {each.name for each in tmp_path.rglob("*")} == {"b.tar", "new"}


def test_a_file_that_is_written_twice_does_not_pass_through_a_link(tmp_path):
    path = forge(tmp_path / "b.tar", member("profile/x"), member("profile/x"), about={"files": 2})

    with pytest.raises(FileExistsError):
        backup_file.unpack(path, tmp_path / "new")


def test_half_a_backup_is_none(backup, tmp_path):
    content = backup.read_bytes()
    for size in (0, 100, 512, 1536, 2560):
        half = tmp_path / "half.tar"
        half.write_bytes(content[:size])
        with pytest.raises(UsageError, match="backup of a profile"):
            backup_file.read(half)


@pytest.mark.parametrize(
    "about", [{"format": 2}, {"fence": "7"}, {"fields": None}, {"unknown": 1}, {"profile_id": 5}]
)
def test_a_page_that_cannot_be_understood_is_no_backup(tmp_path, about):
    with pytest.raises(UsageError, match="is no backup of a profile"):
        backup_file.read(forge(tmp_path / "b.tar", about=about))


def test_a_page_that_is_nested_without_end_is_no_backup(tmp_path):
    with tarfile.open(tmp_path / "deep.tar", "w") as tar:
        page = b"[" * 100_000
        first = tarfile.TarInfo(ABOUT)
        first.size = len(page)
        tar.addfile(first, io.BytesIO(page))

    with pytest.raises(UsageError, match="is no backup of a profile that this version can read"):
        backup_file.read(tmp_path / "deep.tar")


def test_another_tar_or_file_is_no_backup(tmp_path):
    with tarfile.open(tmp_path / "other.tar", "w") as tar:
        tar.addfile(member("README"))
    (tmp_path / "text").write_text("x" * 2000)

    for name, why in (("other.tar", "no backup"), ("text", "backup"), ("none", "cannot be read")):
        with pytest.raises(UsageError, match=why):
            backup_file.read(tmp_path / name)
