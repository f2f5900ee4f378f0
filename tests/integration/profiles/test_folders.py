"""Which folders a local profile may have and which a restore may replace, as a person sees it."""

from __future__ import annotations

import pytest

from tests.integration.profile_cli import cli, ids, refused, said
from worker.profiles import store
from worker.profiles.store import NewProfile

__all__ = ["cli"]


@pytest.fixture
def home(cli, tmp_path):
    """A folder with the folders of the profiles i3 and q1 in it."""
    home = tmp_path / "homes"
    for name in ("i3", "q1"):
        (home / name / "Default").mkdir(parents=True)
        (home / name / "Default" / "Cookies").write_text(name)
        said(cli("profiles", "add", name, "--folder", home / name))
    (home / "link").symlink_to(home / "i3")
    return home


@pytest.fixture
def tar(cli, home, tmp_path):
    said(cli("profiles", "backup", "q1", "-o", tmp_path / "x.tar"))
    return tmp_path / "x.tar"


def cookies(home) -> list[str]:
    return [(home / name / "Default" / "Cookies").read_text() for name in ("i3", "q1")]


WRONG = [
    ("{home}", "contains the folder of profile i3"),
    ("{home}/../homes/i3/", "profile i3 already uses that browser"),
    ("{home}/link", "profile i3 already uses that browser"),
    ("{home}/link/Default/deeper", "lies in the folder of profile i3"),
    ("{home}/i3/Default", "lies in the folder of profile i3"),
    ("/", "contains the folder of profile"),
    ("{home}/../state", "holds more than one profile"),
    ("{home}/../state/profiles", "holds more than one profile"),
    ("/etc/passwd", "/etc/passwd is a file"),
    ("/etc/passwd/p", "/etc/passwd is a file"),
]


def test_a_folder_that_reaches_anothers_is_refused(cli, database, home):
    before = store.all_profiles(database)

    for folder, reason in WRONG:
        line = refused(cli("profiles", "add", "f4", "--folder", folder.format(home=home)))
        assert reason in line, folder
        assert "\n" not in line

    assert store.all_profiles(database) == before


def test_set_and_import_refuse_it_too(cli, database, home, tmp_path):
    folder, reason = WRONG[3][0].format(home=home), WRONG[3][1]
    listed = tmp_path / "new.csv"
    listed.write_text(f"id,folder\nn1,{home}/new\nf4,{folder}\n")
    before = store.all_profiles(database)

    assert reason in refused(cli("profiles", "set", "q1", "--folder", folder))
    assert reason in refused(cli("profiles", "import", listed))

    assert store.all_profiles(database) == before


def test_profiles_of_one_file_do_not_share_a_folder_either(cli, database, home, tmp_path):
    listed = tmp_path / "new.csv"
    listed.write_text(f"id,folder\nn1,{home}/new\nn2,{home}/new/Default\n")

    assert "lies in the folder of profile n1" in refused(cli("profiles", "import", listed))
    assert ids(database) == ["i3", "q1"]


def test_a_folder_is_stored_as_it_really_is(cli, database, home):
    (home / "way").symlink_to(home / "real")

    said(cli("profiles", "add", "f4", "--folder", f"{home}/i3/../way/new"))

    assert store.get(database, "f4")["folder"] == str(home / "real" / "new")


def test_other_fields_of_a_profile_with_a_bad_folder_can_be_set(cli, database, home):
    store.add(database, [NewProfile("f4", folder=home)], "me")

    assert said(cli("profiles", "set", "f4", "--region", "de")) == "changed f4: region – → de"


@pytest.mark.parametrize("folder", ["{home}", "{home}/link", "{home}/i3/Default"])
def test_a_restore_leaves_other_profiles_alone(cli, database, home, tar, folder):
    store.add(database, [NewProfile("f4", folder=folder.format(home=home))], "me")

    line = refused(cli("profiles", "restore", "f4", tar, "--of", "q1"))

    assert "nothing was restored" in line
    assert "profile i3" in line
    assert cookies(home) == ["i3", "q1"]
    assert store.get(database, "f4")["fence"] == 0


def test_a_restore_does_not_replace_what_is_no_browsers(cli, home, tar, tmp_path):
    papers = tmp_path / "papers"
    papers.mkdir()
    said(cli("profiles", "add", "f4", "--folder", papers))
    (papers / "thesis.txt").write_text("years of work")

    line = refused(cli("profiles", "restore", "f4", tar, "--of", "q1"))

    assert f"folder {papers} is no browser's and not empty; nothing was restored" in line
    assert (papers / "thesis.txt").read_text() == "years of work"
    (papers / "thesis.txt").unlink()
    said(cli("profiles", "restore", "f4", tar, "--of", "q1"))
    assert (papers / "Default" / "Cookies").read_text() == "q1"


def test_a_profile_is_not_moved_to_a_host_where_its_folder_is_anothers(cli, database, home):
    said(cli("profiles", "add", "far", "--folder", home / "i3", NIGHTSHIFT_HOST="night-9"))

    line = refused(cli("profiles", "move", "far", "--here"))

    assert "profile i3 already uses that browser" in line
    assert store.get(database, "far")["host"] == "night-9"
    assert "lives on night-9" in refused(cli("profiles", "set", "far", "--folder", home / "n"))
