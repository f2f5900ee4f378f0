"""One folder in the place of another: by one exchange, or by two renames that can be undone."""

from __future__ import annotations

import errno

import pytest

from worker.system import swap_folders
from worker.system.swap_folders import swap_in


@pytest.fixture
def folders(tmp_path):
    for name in ("new", "place"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "is").write_text(name)
    return tmp_path / "new", tmp_path / "place"


def test_a_folder_takes_the_place_of_another_and_the_other_is_kept(folders):
    new, place = folders

    old = swap_in(new, place)

    assert (place / "is").read_text() == "new"
    assert old is not None
    assert (old / "is").read_text() == "place"


def test_an_empty_place_is_simply_taken(folders, tmp_path):
    assert swap_in(folders[0], tmp_path / "nowhere") is None
    assert (tmp_path / "nowhere" / "is").read_text() == "new"


@pytest.fixture
def without_exchange(monkeypatch):
    def refuse(*_):
        raise OSError(errno.EINVAL, "not on this filesystem")

    monkeypatch.setattr(swap_folders, "_exchange", refuse)


@pytest.mark.usefixtures("without_exchange")
def test_where_names_cannot_be_exchanged_two_renames_do(folders):
    new, place = folders

    old = swap_in(new, place)

    assert (place / "is").read_text() == "new"
    assert (old / "is").read_text() == "place"


@pytest.mark.usefixtures("without_exchange")
def test_a_new_folder_that_cannot_be_moved_leaves_the_old_one_where_it_was(folders):
    new, place = folders
    (new / "is").unlink()
    new.rmdir()

    with pytest.raises(FileNotFoundError):
        swap_in(new, place)

    assert (place / "is").read_text() == "place"
