"""A local profile's folder is looked at before it is opened: it must still be its own."""

from __future__ import annotations

import shutil

import pytest

from worker.errors import ProviderError
from worker.profiles import own_folder, store
from worker.profiles.store import NewProfile


@pytest.fixture
def folders(database, tmp_path):
    """Two profiles, each with a folder as Chromium leaves it."""
    found = {name: (tmp_path / name).resolve() for name in ("p1", "p2")}
    for name, folder in found.items():
        store.add(database, [NewProfile(name, folder=folder)], "me")
        (folder / "Default").mkdir(parents=True)
    return found


def problem(database, profile_id: str) -> str:
    with pytest.raises(ProviderError) as raised:
        own_folder.require(database, store.get(database, profile_id))
    assert raised.value.kind == "shared"
    assert own_folder.problems(database)
    return str(raised.value)


def test_folders_of_their_own_are_well_and_so_are_those_not_made_yet(database, folders, tmp_path):
    store.add(database, [NewProfile("new", folder=tmp_path / "new")], "me")
    store.add(database, [NewProfile("far", provider="cdp", endpoint="9222")], "me")

    for name in ("p1", "p2", "new", "far"):
        own_folder.require(database, store.get(database, name))
    assert own_folder.problems(database) == []


@pytest.mark.parametrize("inner", ["", "Default"])
def test_a_link_in_place_of_a_folder_is_refused(database, folders, inner):
    shutil.rmtree(folders["p1"] / inner)
    (folders["p1"] / inner).symlink_to(folders["p2"] / inner)

    assert "is a link to" in problem(database, "p1")
    # Who has had the folder all the time goes on.
    own_folder.require(database, store.get(database, "p2"))


def test_a_folder_that_lies_in_anothers_by_a_link_above_it_is_refused(database, folders, tmp_path):
    above = tmp_path / "above"
    store.add(database, [NewProfile("p3", folder=above / "p3")], "me")
    above.symlink_to(folders["p2"])
    (folders["p2"] / "p3").mkdir()

    assert f"{above} is the folder of profile p2 too" in problem(database, "p3")


def test_the_same_folder_by_another_path_is_refused(database, folders, tmp_path):
    store.add(database, [NewProfile("p3", folder=tmp_path / "sub" / "p1")], "me")
    (tmp_path / "sub").symlink_to(tmp_path)

    assert "is the folder of profile p1 too; separate them" in problem(database, "p3")
