"""Evidence files are there in full or not at all, and no two attempts share a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from worker.evidence.files import new_attempt_folder, write_atomically


def test_a_file_replaces_the_one_before(tmp_path: Path):
    write_atomically(tmp_path / "error.json", b"one")
    write_atomically(tmp_path / "error.json", b"two")

    assert [path.name for path in tmp_path.iterdir()] == ["error.json"]
    assert (tmp_path / "error.json").read_bytes() == b"two"


def test_a_failed_write_leaves_the_old_file_and_no_half_of_the_new(tmp_path: Path):
    write_atomically(tmp_path / "error.json", b"one")
    # A device without space stands where the unfinished file would be written.
    (tmp_path / ".error.json.partial").symlink_to("/dev/full")

    with pytest.raises(OSError, match="No space left"):
        write_atomically(tmp_path / "error.json", b"two")

    assert [path.name for path in tmp_path.iterdir()] == ["error.json"]
    assert (tmp_path / "error.json").read_bytes() == b"one"


def test_a_folder_that_is_there_already_moves_aside(tmp_path: Path):
    for content in (b"first", b"second", b"third"):
        folder = new_attempt_folder(tmp_path, 7, 2)
        write_atomically(folder / "traceback.txt", content)

    contents = {
        path.name: (path / "traceback.txt").read_bytes() for path in (tmp_path / "7").iterdir()
    }
    assert contents == {"2": b"third", "2.1": b"first", "2.2": b"second"}
