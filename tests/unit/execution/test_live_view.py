"""A worker's pictures go on the wall while the board says so, and under the job that it is at."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from worker.execution import live_view
from worker.system import live_wall
from worker.system.board import Board

IMAGE = live_wall.JPEG + b"a page"


@pytest.fixture
def worker(tmp_path):
    """Its pictures, its board and its wall."""
    board = Board(1)
    board.entries[0].incarnation = 7
    pictures = SimpleNamespace(is_wanted=None, keep=None)
    settings = SimpleNamespace(state_dir=tmp_path, database=SimpleNamespace(key="main"))
    live_view.connect(pictures, settings, board.header, board.entries[0])
    wall = live_wall.folder_of(tmp_path, "main")
    live_wall.ask(wall)
    return SimpleNamespace(pictures=pictures, board=board, wall=wall)


def test_pictures_are_wanted_while_the_board_says_so(worker):
    assert not worker.pictures.is_wanted()

    worker.board.header.watched_until = time.monotonic() + 60

    assert worker.pictures.is_wanted()


def test_a_picture_is_kept_under_the_job_that_runs(worker):
    worker.board.header.watched_until = time.monotonic() + 60
    worker.board.entries[0].begin_job(4729, 1, 1, "visit", 60)

    worker.pictures.keep(IMAGE, "")

    assert live_wall.read(worker.wall, 7).job_id == 4729


def test_a_picture_that_comes_too_late_is_not_kept(worker):
    worker.board.entries[0].begin_job(4729, 1, 1, "visit", 60)
    worker.pictures.keep(IMAGE, "")
    assert live_wall.read(worker.wall, 7) is None

    worker.board.header.watched_until = time.monotonic() + 60
    worker.board.entries[0].end_job()
    worker.pictures.keep(IMAGE, "")

    assert live_wall.read(worker.wall, 7) is None
