"""Files are there in full or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from worker.system.durable_file import write_durably


def test_a_file_replaces_the_one_before(tmp_path: Path):
    write_durably(tmp_path / "error.json", b"one")
    write_durably(tmp_path / "error.json", b"two")

    assert [path.name for path in tmp_path.iterdir()] == ["error.json"]
    assert (tmp_path / "error.json").read_bytes() == b"two"


def test_a_failed_write_leaves_the_old_file_and_no_half_of_the_new(tmp_path: Path):
    write_durably(tmp_path / "error.json", b"one")
    # A device without space stands where the unfinished file would be written.
    (tmp_path / ".error.json.partial").symlink_to("/dev/full")

    with pytest.raises(OSError, match="No space left"):
        write_durably(tmp_path / "error.json", b"two")

    assert [path.name for path in tmp_path.iterdir()] == ["error.json"]
    assert (tmp_path / "error.json").read_bytes() == b"one"
