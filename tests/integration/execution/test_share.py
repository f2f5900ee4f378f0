"""A worker's share follows the slots, and by a slot that may be another's nothing is claimed."""

from __future__ import annotations

import os
import time

import pytest

from worker.execution.stop_request import StopRequest
from worker.execution.worker_loop import WorkerLoop, worker_main
from worker.exit_codes import WorkerExit
from worker.models import Owner
from worker.queue import runs
from worker.settings import RunSettings
from worker.system.board import Board


@pytest.fixture
def settings_of_run(settings, tmp_path):
    return RunSettings(
        database=settings,
        state_dir=tmp_path / "state",
        errors_dir=tmp_path / "errors",
        workers=2,
        slots="auto",
    )


@pytest.fixture
def board():
    """Two places, with slots 3 and 1 of 4, held for a minute."""
    board = Board(2)
    board.allotment.allot({1: 7, 3: 7}, 4)
    board.allotment.hold_until(time.monotonic() + 60)
    return board


@pytest.fixture
def loop(database, settings_of_run, board):
    """The worker of slot 3."""
    run_id = runs.start_run(database, settings_of_run, os.getpid())
    loop = WorkerLoop(settings_of_run, run_id, 3, board, StopRequest())
    yield loop
    loop._db.close()


def ids(loop):
    found = []
    while (candidate := loop.candidates.next()) is not None:
        found.append(candidate.job_id)
    return found


def test_a_worker_looks_by_the_number_of_slots_there_are_now(loop, board, queue):
    jobs = [queue.enqueue("visit", {}) for _ in range(12)]
    assert loop.candidates.next().job_id % 4 == 3

    board.allotment.allot({1: 7, 3: 7}, 6)
    loop._share.follow()

    assert loop.candidates.next().job_id % 6 == 3
    assert len(jobs) == 12


def test_a_worker_goes_on_as_it_was_while_the_slots_stay_as_they_are(loop):
    before = loop.candidates

    loop._share.follow()

    assert loop.candidates is before


def test_a_worker_shows_its_jobs_at_its_own_place(loop, board):
    assert board.allotment.slots == [3, 1]
    assert board.entries[0].incarnation == loop.owner.incarnation
    assert board.entries[1].incarnation == 0
    assert loop.owner == Owner(3, loop.owner.incarnation)


def test_nothing_is_claimed_by_a_slot_whose_lease_may_be_over(loop, board):
    assert loop._may_claim()

    board.allotment.hold_until(time.monotonic() - 0.001)
    assert not loop._may_claim()

    board.allotment.hold_until(time.monotonic() + 60)
    assert loop._may_claim()


def test_a_worker_whose_slot_went_to_another_ends(loop, board):
    board.allotment.allot({1: 7, 0: 9}, 4)

    assert not loop._may_claim()
    assert loop._work() is False


def test_a_worker_whose_slot_is_gone_before_it_began_ends(settings_of_run, board):
    assert worker_main(settings_of_run, 1, 2, board) == WorkerExit.STOPPED
