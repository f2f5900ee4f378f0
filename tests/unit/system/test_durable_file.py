"""Files are there in full or not at all."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from worker.system.durable_file import partial_beside, write_durably


def test_a_file_replaces_the_one_before(tmp_path: Path):
    write_durably(tmp_path / "error.json", b"one")
    write_durably(tmp_path / "error.json", b"two")

    assert [path.name for path in tmp_path.iterdir()] == ["error.json"]
    assert (tmp_path / "error.json").read_bytes() == b"two"


def test_a_failed_write_leaves_the_old_file_and_no_half_of_the_new(tmp_path: Path):
    write_durably(tmp_path / "error.json", b"one")
    # A device without space stands where the unfinished file would be written.
    partial_beside(tmp_path / "error.json").symlink_to("/dev/full")

    with pytest.raises(OSError, match="No space left"):
        write_durably(tmp_path / "error.json", b"two")

    assert [path.name for path in tmp_path.iterdir()] == ["error.json"]
    assert (tmp_path / "error.json").read_bytes() == b"one"


def test_processes_that_write_one_file_at_once_do_not_meet(tmp_path: Path):
    path = tmp_path / "error.json"
    context = multiprocessing.get_context("fork")
    start = context.Barrier(3)
    writers = [
        context.Process(target=_write_often, args=(path, bytes([65 + number]) * 5000, start))
        for number in range(3)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)

    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    content = path.read_bytes()
    assert (len(content), len(set(content))) == (5000, 1)
    assert [found.name for found in tmp_path.iterdir()] == ["error.json"]


def _write_often(path: Path, content: bytes, start) -> None:
    start.wait(30)
    for _ in range(50):
        write_durably(path, content)
