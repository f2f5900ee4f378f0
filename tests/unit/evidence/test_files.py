"""No two attempts share a folder of evidence."""

from __future__ import annotations

from pathlib import Path

from worker.evidence.files import new_attempt_folder


def test_a_folder_that_is_there_already_moves_aside(tmp_path: Path):
    for content in (b"first", b"second", b"third"):
        folder = new_attempt_folder(tmp_path, 7, 2)
        (folder / "traceback.txt").write_bytes(content)

    contents = {
        path.name: (path / "traceback.txt").read_bytes() for path in (tmp_path / "7").iterdir()
    }
    assert contents == {"2": b"third", "2.1": b"first", "2.2": b"second"}
