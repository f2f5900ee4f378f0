"""`profiles backup` and `restore`, as a person calls them, with a folder of files for a profile."""

from __future__ import annotations

import io
import json
import tarfile

import pytest

from tests.integration.profile_cli import refused, said
from worker.profiles import store
from worker.profiles.states import State
from worker.profiles.store import NewProfile
from worker.system.identity import HOST_VARIABLE


@pytest.fixture
def folder(database, tmp_path):
    """The folder of the local profile p1."""
    folder = tmp_path / "profiles" / "p1"
    (folder / "Default").mkdir(parents=True)
    (folder / "Default" / "Cookies").write_text("good")
    fields = {"account_id": "ada", "region": "de"}
    store.add(database, [NewProfile("p1", folder=folder, **fields)], "me")
    return folder


@pytest.fixture
def tar(cli, folder, tmp_path):
    """A backup of it."""
    said(cli("profiles", "backup", "p1", "-o", tmp_path / "b.tar"))
    return tmp_path / "b.tar"


def cookies(folder) -> str:
    return (folder / "Default" / "Cookies").read_text()


def use(database, name="p1") -> None:
    """Let somebody hold a profile and give it back."""
    store.check_out(database, name, person="bob", seconds=60, reason="")
    store.give_back(database, name, by="bob")


def as_it_stands(database, folder):
    files = {str(path): path.read_bytes() for path in folder.parent.rglob("*") if path.is_file()}
    rows = [
        database.run_statement(f"SELECT * FROM {table} ORDER BY 1")
        for table in ("profiles", "profile_leases", "profile_events")
    ]
    return files, rows


def test_a_spoilt_profile_is_restored_from_its_backup(cli, database, folder, tar):
    (folder / "Default" / "Cookies").write_text("spoilt")
    (folder / "Default" / "More").write_text("spoilt")

    line = said(cli("profiles", "restore", "p1", tar))

    assert line.startswith(f"restored p1 from {tar}: taken at fence 1 on ")
    assert cookies(folder) == "good"
    assert not (folder / "Default" / "More").exists()
    assert [path.name for path in folder.parent.iterdir()] == ["p1"]
    assert store.get(database, "p1")["state"] == "available"


def test_a_restored_profile_that_was_set_aside_stays_so_and_it_is_said(cli, database, tar):
    store.set_state(database, "p1", State.REVIEW_REQUIRED, reason="lost", by="me")

    lines = said(cli("profiles", "restore", "p1", tar)).splitlines()

    assert lines[1].startswith("profile p1 stays review_required, and no job runs in it")
    assert lines[1].endswith("launcher.py profiles clear p1 --reason …")
    assert store.get(database, "p1")["state"] == "review_required"


def test_a_backup_holds_fields_and_fence_and_is_its_owners_alone(folder, tar):
    with tarfile.open(tar) as file:
        about = json.load(file.extractfile("nightshift.json"))

    assert (about["profile_id"], about["fence"]) == ("p1", 1)
    assert about["fields"]["account_id"] == "ada"
    assert tar.stat().st_mode & 0o777 == 0o600


def test_a_folder_that_has_vanished_is_restored(cli, folder, tar):
    (folder / "Default" / "Cookies").unlink()
    (folder / "Default").rmdir()
    folder.rmdir()
    assert "has no folder" in refused(cli("profiles", "backup", "p1", "-o", tar.with_name("c.tar")))

    said(cli("profiles", "restore", "p1", tar))

    assert cookies(folder) == "good"


def test_a_profile_in_use_is_neither_backed_up_nor_restored(cli, database, folder, tar, tmp_path):
    store.check_out(database, "p1", person="bob", seconds=60, reason="new password")
    before = as_it_stands(database, folder)

    for arguments in (
        ("backup", "p1", "-o", tmp_path / "c.tar"),
        ("restore", "p1", tar),
        ("cookies", "p1", "--out", tmp_path / "c.tar"),
    ):
        line = refused(cli("profiles", *arguments))
        assert "profile p1 is in use by bob (new password); nothing was" in line
        assert "return it first: launcher.py profiles return p1" in line
    assert as_it_stands(database, folder) == before
    assert not (tmp_path / "c.tar").exists()


def test_an_older_backup_is_restored_only_by_force(cli, database, folder, tar):
    use(database)
    (folder / "Default" / "Cookies").write_text("newer")
    before = as_it_stands(database, folder)

    line = refused(cli("profiles", "restore", "p1", tar))
    assert "was taken at fence 1, and profile p1 has been used since (fence 2)" in line
    assert "Its old cookies would come back" in line
    assert as_it_stands(database, folder) == before

    said(cli("profiles", "restore", "p1", tar, "--force"))
    assert cookies(folder) == "good"


def test_a_backup_of_another_profile_is_restored_only_where_it_is_named(
    cli, database, folder, tar, tmp_path
):
    other = tmp_path / "profiles" / "p2"
    store.add(database, [NewProfile("p2", folder=other)], "me")

    assert "it is a backup of profile p1, not of p2" in refused(
        cli("profiles", "restore", "p2", tar, "--force")
    )
    assert not other.exists()

    said(cli("profiles", "restore", "p2", tar, "--of", "p1"))
    assert cookies(other) == "good"


def test_a_tar_that_leads_out_changes_nothing(cli, database, folder, tar, tmp_path):
    with tarfile.open(tar, "a") as file:
        member = tarfile.TarInfo("profile/../../evil")
        member.size = 4
        file.addfile(member, io.BytesIO(b"evil"))
    before = as_it_stands(database, folder)

    line = refused(cli("profiles", "restore", "p1", tar))

    assert line == (
        f"nightshift: {tar} holds 'profile/../../evil', which leads out of the profile's folder; "
        f"nothing was restored"
    )
    assert as_it_stands(database, folder) == before
    assert not (tmp_path / "evil").exists()


def test_a_restore_for_which_there_is_no_room_leaves_the_folder_as_it_was(cli, folder, tar):
    # A file where the new folder is to be made, which cannot be one.
    folder.parent.joinpath(".p1.restoring").write_text("in the way")

    assert "cannot be replaced" in refused(cli("profiles", "restore", "p1", tar))
    assert cookies(folder) == "good"


def test_profiles_whose_files_are_elsewhere_are_refused_in_one_line(cli, database, tmp_path, tar):
    new = NewProfile("k1", provider="kameleo", vendor_id="7")
    store.add(database, [new], "me")

    for arguments in (("backup", "k1"), ("restore", "k1", tar, "--of", "p1")):
        line = refused(cli("profiles", *arguments))
        assert "profile k1 is kameleo's, and its files are not on this machine" in line


def test_a_profile_that_is_not_there_is_named_with_the_command_that_adds_it(cli, database, tar):
    store_line = "launcher.py profiles add p9 --account ada --region de"

    assert store_line in refused(cli("profiles", "restore", "p9", tar, "--of", "p1"))
    assert "there is no profile p9" in refused(cli("profiles", "backup", "p9"))


def test_a_file_that_is_there_is_not_written_over(cli, folder, tar):
    before = tar.read_bytes()

    assert "exists already" in refused(cli("profiles", "backup", "p1", "-o", tar))
    assert tar.read_bytes() == before


def test_a_profile_that_lives_on_another_host_is_left_to_that_host(
    cli, database, folder, tar, tmp_path
):
    before = as_it_stands(database, folder)
    home = store.get(database, "p1")["host"]

    for arguments in (
        ("backup", "p1", "-o", tmp_path / "c.tar"),
        ("restore", "p1", tar),
        ("cookies", "p1", "--out", tmp_path / "c.json"),
    ):
        line = refused(cli("profiles", *arguments, **{HOST_VARIABLE: "night-9"}))
        assert f"profile p1 lives on {home}; nothing was" in line
    assert as_it_stands(database, folder) == before
