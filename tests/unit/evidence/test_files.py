"""Evidence files are there in full or not at all, and no two attempts share a folder."""

from __future__ import annotations

import json
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


def keep(errors_dir: Path, database: str, text: str) -> str:
    folder = new_attempt_folder(errors_dir, 7, 2, database=database)
    write_atomically(folder / "error.json", json.dumps({"database": database}).encode())
    write_atomically(folder / "traceback.txt", text.encode())
    return str(folder.relative_to(errors_dir))


def test_two_databases_leave_each_others_evidence_where_their_rows_say_it_is(tmp_path: Path):
    noted = [keep(tmp_path, "aaaa", "of a"), keep(tmp_path, "bbbb", "of b")]

    assert noted == ["7/2", "7/2-bbbb"]
    assert [(tmp_path / path / "traceback.txt").read_text() for path in noted] == ["of a", "of b"]


def test_a_reused_attempt_number_moves_aside_only_its_own_databases_folder(tmp_path: Path):
    for database, text in [("aaaa", "a1"), ("bbbb", "b1"), ("aaaa", "a2"), ("bbbb", "b2")]:
        keep(tmp_path, database, text)

    contents = {
        path.name: (path / "traceback.txt").read_text() for path in (tmp_path / "7").iterdir()
    }
    assert contents == {"2": "a2", "2.1": "a1", "2-bbbb": "b2", "2-bbbb.1": "b1"}


@pytest.mark.parametrize("content", [None, b"", b"[1]", b'{"database": 5}', b"\xff"])
def test_a_folder_that_does_not_say_whose_it_is_moves_aside(tmp_path: Path, content):
    folder = new_attempt_folder(tmp_path, 7, 2)
    if content is not None:
        (folder / "error.json").write_bytes(content)

    assert keep(tmp_path, "aaaa", "ours") == "7/2"
    assert (tmp_path / "7" / "2.1").is_dir()
