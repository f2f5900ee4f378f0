"""Pictures of pages are small, private, whole, and gone when nobody looks."""

from __future__ import annotations

import os
import time

import pytest

from worker.system import live_wall

IMAGE = live_wall.JPEG + b"a small page"


@pytest.fixture
def folder(tmp_path):
    found = live_wall.folder_of(tmp_path / "state", "main")
    live_wall.ask(found)
    return found


def test_somebody_looks_as_long_as_they_ask(folder):
    assert live_wall.is_asked(folder)

    long_ago = time.time() - live_wall.WISH_SECONDS - 1
    os.utime(folder / live_wall.WISH, (long_ago, long_ago))

    assert not live_wall.is_asked(folder)


def test_a_clock_that_was_put_back_asks_for_nothing(folder):
    ahead = time.time() + 3600
    os.utime(folder / live_wall.WISH, (ahead, ahead))

    assert not live_wall.is_asked(folder)


def test_without_a_folder_nobody_looks(tmp_path):
    assert not live_wall.is_asked(tmp_path / "none")
    assert live_wall.read(tmp_path / "none", 7) is None
    assert live_wall.remove_all(tmp_path / "none") == 0


def test_a_picture_comes_back_with_its_job_and_its_age(folder):
    live_wall.keep(folder, 7, 4729, IMAGE)

    found = live_wall.read(folder, 7)

    assert (found.job_id, found.image, found.why) == (4729, IMAGE, "")
    assert 0 <= found.age_seconds < 60
    assert live_wall.read(folder, 8) is None


def test_only_its_owner_may_read_it(folder):
    old = os.umask(0)
    try:
        live_wall.keep(folder, 7, 1, IMAGE)
        live_wall.ask(folder)
    finally:
        os.umask(old)

    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert modes == {"7.picture": 0o600, live_wall.WISH: 0o600}
    assert folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("image", [b"<svg onload=x>", live_wall.JPEG + bytes(live_wall.MAX_BYTES)])
def test_what_is_no_small_jpeg_is_not_kept(folder, image):
    live_wall.keep(folder, 7, 1, image)

    found = live_wall.read(folder, 7)

    assert found.image == b""
    assert "no small picture" in found.why


def test_what_lies_in_its_place_is_not_shown(folder, tmp_path):
    (tmp_path / "secret").write_bytes(b'{"job": 1, "why": ""}\n' + IMAGE)
    (folder / "7.picture").symlink_to(tmp_path / "secret")
    (folder / "8.picture").write_bytes(b"no head at all")
    (folder / "9.picture").write_bytes(b'{"job": 1, "why": ""}\n<script>')
    os.mkfifo(folder / "10.picture")

    assert [live_wall.read(folder, number) for number in (7, 8, 9, 10)] == [None] * 4


def test_all_are_removed_also_what_a_killed_worker_left_half_written(folder):
    live_wall.keep(folder, 7, 1, IMAGE)
    live_wall.keep(folder, 8, 1, IMAGE)
    (folder / ".9.picture.12-34.partial").write_bytes(b"half")

    live_wall.remove(folder, 7)
    assert live_wall.read(folder, 7) is None
    assert live_wall.remove_all(folder) == 2

    assert [path.name for path in folder.iterdir()] == [live_wall.WISH]
    live_wall.stop_asking(folder)
    assert list(folder.iterdir()) == []


def test_a_picture_that_cannot_be_written_leaves_the_old_one(folder, monkeypatch):
    live_wall.keep(folder, 7, 1, IMAGE)
    monkeypatch.setattr(os, "fdopen", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))

    with pytest.raises(OSError, match="full"):
        live_wall.keep(folder, 7, 2, IMAGE)

    monkeypatch.undo()
    assert live_wall.read(folder, 7).job_id == 1
