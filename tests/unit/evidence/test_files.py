"""No two attempts share a folder of evidence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from worker.evidence.files import new_attempt_folder
from worker.system.durable_file import write_durably


def test_a_folder_that_is_there_already_moves_aside(tmp_path: Path):
    for content in (b"first", b"second", b"third"):
        folder = new_attempt_folder(tmp_path, 7, 2)
        (folder / "traceback.txt").write_bytes(content)

    contents = {
        path.name: (path / "traceback.txt").read_bytes() for path in (tmp_path / "7").iterdir()
    }
    assert contents == {"2": b"third", "2.1": b"first", "2.2": b"second"}


def keep(errors_dir: Path, database: str, text: str) -> str:
    folder = new_attempt_folder(errors_dir, 7, 2, database=database)
    write_durably(folder / "error.json", json.dumps({"database": database}).encode())
    write_durably(folder / "traceback.txt", text.encode())
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
