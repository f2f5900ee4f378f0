"""How long a worker waits without work goes by how many have none, on all hosts."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

from worker.database_settings import DatabaseSettings
from worker.execution.share import Share
from worker.settings import RunSettings
from worker.system.allotment import Allotment
from worker.system.board import Board, Phase


def longest_wait(idle: int, **settings: Any) -> float:
    """Of one worker on one of two hosts with 48 each, of which so many here are idle."""
    run = RunSettings(database=DatabaseSettings(), workers=48, total=96, **settings)
    board = Board(48, Allotment(48, 0, 96))
    for number, entry in enumerate(board.entries):
        entry.phase = Phase.IDLE if number < idle else Phase.WORKING
    return Share(Mock(), run, 0, board, Mock(), lambda: False, Mock()).most_idle_seconds


@pytest.mark.parametrize(("idle", "seconds"), [(1, 0.5), (6, 0.5), (12, 1.0), (48, 4.0)])
def test_many_idle_workers_of_a_pool_that_follows_wait_longer(idle, seconds):
    assert longest_wait(idle, follow=True) == seconds


def test_who_drains_or_helps_nobody_looks_as_often_as_alone():
    assert longest_wait(48) == 0.5
    assert longest_wait(48, follow=True, help_others=False) == 0.5
