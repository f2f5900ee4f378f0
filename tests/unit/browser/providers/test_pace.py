"""Turns keep their distance, among all processes."""

from __future__ import annotations

import multiprocessing
import time
from pathlib import Path

import pytest

from worker.browser.providers.pace import Pace


def take_turns(path: Path, results: multiprocessing.Queue) -> None:
    pace = Pace(path, 0.1)
    for _ in range(3):
        pace.take_turn()
        results.put(time.monotonic())


def test_processes_keep_the_interval_among_them(tmp_path):
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    path = tmp_path / "state" / "x.turn"
    Pace(path, 0.1).take_turn()
    first = float(path.read_text(encoding="ascii"))
    children = [context.Process(target=take_turns, args=(path, results)) for _ in range(3)]
    for child in children:
        child.start()
    times = sorted(results.get(timeout=20) for _ in range(9))
    for child in children:
        child.join()

    # A turn is never early; on a busy machine it may be late, but that moves no other.
    for number, moment in enumerate(times, 1):
        assert moment - first >= 0.1 * number - 0.001


def test_a_turn_too_far_off_is_not_taken(tmp_path):
    pace = Pace(tmp_path / "x.turn", 30)
    assert pace.take_turn(0) is None

    wait = pace.take_turn(1)
    assert wait is not None
    assert 20 < wait <= 30
    again = pace.take_turn(1)
    assert again is not None
    assert again <= wait


@pytest.mark.parametrize("text", ["", "nonsense", "1e12", "nan"])
def test_a_stamp_that_cannot_be_meant_holds_nobody_up(tmp_path, text):
    path = tmp_path / "x.turn"
    path.write_text(text)
    started = time.monotonic()

    assert Pace(path, 30).take_turn(1) is None
    assert time.monotonic() - started < 15


@pytest.mark.parametrize("interval", [0.0, 0.1])
def test_a_rest_keeps_everybody_away_for_its_time(tmp_path, interval):
    pace = Pace(tmp_path / "x.turn", interval)
    pace.rest(30)
    # A shorter one changes nothing.
    pace.rest(1)

    wait = pace.take_turn(1)

    assert wait is not None
    assert 28 < wait <= 30


def test_no_rest_is_longer_than_anybody_would_wait(tmp_path):
    pace = Pace(tmp_path / "x.turn", 0.0)
    pace.rest(1e9)

    assert 0 < (pace.take_turn(1) or 0) <= 120


def test_without_interval_and_rest_nothing_is_written(tmp_path):
    assert Pace(tmp_path / "x.turn", 0.0).take_turn() is None
    assert list(tmp_path.iterdir()) == []
