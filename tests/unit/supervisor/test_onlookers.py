"""The board shows that somebody looks while they do, and no picture outlives that."""

from __future__ import annotations

import os
import time

import pytest

from worker.supervisor import onlookers
from worker.supervisor.onlookers import Onlookers
from worker.system import live_wall
from worker.system.board import Board

IMAGE = live_wall.JPEG + b"a page"


@pytest.fixture
def folder(tmp_path):
    found = live_wall.folder_of(tmp_path, "main")
    live_wall.ask(found)
    return found


def lapse(folder):
    long_ago = time.time() - live_wall.WISH_SECONDS - 1
    os.utime(folder / live_wall.WISH, (long_ago, long_ago))


def test_the_board_shows_that_somebody_looks_until_they_do_not(folder, monkeypatch):
    monkeypatch.setattr(onlookers, "LOOK_SECONDS", 0.0)
    header = Board(1).header
    eyes = Onlookers(folder, header)
    assert not header.is_watched

    eyes.look()
    assert header.is_watched
    lapse(folder)
    eyes.look()

    assert not header.is_watched


def test_the_word_lapses_when_the_launcher_does_not_look(folder):
    header = Board(1).header
    Onlookers(folder, header).look()

    assert header.is_watched
    assert header.watched_until <= time.monotonic() + onlookers.SHOWN_SECONDS


def test_pictures_go_when_nobody_looks_any_more(folder, monkeypatch):
    monkeypatch.setattr(onlookers, "LOOK_SECONDS", 0.0)
    eyes = Onlookers(folder, Board(1).header)
    live_wall.keep(folder, 7, 1, IMAGE)
    eyes.look()
    assert live_wall.read(folder, 7) is not None

    lapse(folder)
    eyes.look()
    assert live_wall.read(folder, 7) is None
    # One that a worker was just about to keep goes too.
    live_wall.keep(folder, 7, 1, IMAGE)
    eyes.look()

    assert live_wall.read(folder, 7) is None


def test_a_worker_that_ended_leaves_no_picture(folder):
    eyes = Onlookers(folder, Board(1).header)
    live_wall.keep(folder, 7, 1, IMAGE)
    live_wall.keep(folder, 8, 1, IMAGE)

    eyes.forget(7)

    assert live_wall.read(folder, 7) is None
    assert live_wall.read(folder, 8) is not None


def test_the_end_of_a_run_leaves_no_picture_unless_others_are_looked_at(folder):
    eyes = Onlookers(folder, Board(1).header)
    live_wall.keep(folder, 7, 1, IMAGE)
    eyes.close()
    assert live_wall.read(folder, 7) is not None

    lapse(folder)
    eyes.close()

    assert live_wall.read(folder, 7) is None


def test_a_run_without_pictures_never_looks():
    header = Board(1).header
    eyes = Onlookers(None, header)

    eyes.look()
    eyes.forget(7)
    eyes.close()

    assert not header.is_watched
