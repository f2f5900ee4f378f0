"""Files are there in full or not at all."""

from __future__ import annotations

import multiprocessing
import os
import resource
from contextlib import contextmanager
from pathlib import Path

import pytest

from worker.system.durable_file import partial_beside, write_durably


def test_a_file_replaces_the_one_before(tmp_path: Path):
    write_durably(tmp_path / "error.json", b"one")
    write_durably(tmp_path / "error.json", b"two")

    assert [path.name for path in tmp_path.iterdir()] == ["error.json"]
    assert (tmp_path / "error.json").read_bytes() == b"two"


@pytest.fixture
def full_disk():
    """Let no file grow beyond two bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    @contextmanager
    def full():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    return full


def test_a_failed_write_leaves_the_old_file_and_no_half_of_the_new(tmp_path: Path, full_disk):
    write_durably(tmp_path / "error.json", b"one")

    with full_disk(), pytest.raises(OSError, match="too large"):
        write_durably(tmp_path / "error.json", b"two")

    assert [path.name for path in tmp_path.iterdir()] == ["error.json"]
    assert (tmp_path / "error.json").read_bytes() == b"one"


def test_nobody_else_may_read_it_whatever_stood_in_its_place(tmp_path: Path):
    path, foreign = tmp_path / "error.json", tmp_path / "foreign"
    path.write_bytes(b"old")
    path.chmod(0o644)
    foreign.write_bytes(b"foreign")
    partial_beside(path).symlink_to(foreign)

    write_durably(path, b"new")

    assert path.stat().st_mode & 0o777 == 0o600
    assert (path.read_bytes(), foreign.read_bytes()) == (b"new", b"foreign")


def test_what_is_renamed_is_forced_to_disk_in_its_folder_too(tmp_path: Path, monkeypatch):
    synced = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(os.fstat(fd).st_ino), fsync(fd)))

    write_durably(tmp_path / "error.json", b"one")

    assert synced == [(tmp_path / "error.json").stat().st_ino, tmp_path.stat().st_ino]


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
