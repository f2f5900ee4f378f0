"""A worker past its time is asked for its stack and killed; one between two jobs is let be."""

from __future__ import annotations

import signal
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from worker.database_settings import DatabaseSettings
from worker.models import Outcome, StepKind
from worker.settings import RunSettings
from worker.supervisor import hung_workers
from worker.supervisor.hung_workers import DUMP_SECONDS, WITHDRAWN_SECONDS, HungWorkers
from worker.supervisor.slot import Slot
from worker.system.board import Board, Phase

SETTINGS = replace(
    RunSettings(database=DatabaseSettings(), workers=1, total=1),
    hang_grace_seconds=40.0,
    lease_seconds=180.0,
)


class WatchedSlot(Slot):
    """A slot that notes what is done to its worker."""

    def __init__(self, board: Board) -> None:
        super().__init__(0, board.entries[0], lambda: 0)
        self.pid = 1
        self.done: list[object] = []

    def signal(self, number: signal.Signals) -> None:
        self.done.append(number)

    def kill(self, outcome: Outcome, reason: str) -> None:
        self.done.append((outcome, reason))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [time.monotonic()]
    monkeypatch.setattr(hung_workers, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


@pytest.fixture
def pool(clock):
    board = Board(1)
    board.header.renewed_at = clock[0]
    slot = WatchedSlot(board)
    slot.entry.incarnation = 9
    slot.entry.begin_job(1, 1, 1, "visit x", seconds=10)
    return HungWorkers(SETTINGS, board.header, [slot]), slot, board


def test_a_stuck_worker_shows_its_stack_and_is_killed_a_moment_later(pool, clock):
    hung, slot, board = pool
    clock[0] += 49
    board.header.renewed_at = clock[0]
    hung.end_overdue()
    assert slot.done == []

    clock[0] += 2
    hung.end_overdue()
    assert slot.done == [signal.SIGUSR2]
    clock[0] += DUMP_SECONDS + 0.1
    hung.end_overdue()

    (outcome, reason) = slot.done[-1]
    assert outcome is Outcome.TIMED_OUT
    assert reason.startswith("stuck 52 s in visit x, past its timeout")


def test_a_worker_that_went_on_to_another_job_is_asked_again_before_it_is_killed(pool, clock):
    hung, slot, board = pool
    clock[0] += 51
    board.header.renewed_at = clock[0]
    hung.end_overdue()
    slot.entry.begin_job(2, 1, 1, "visit y", seconds=10)
    slot.entry.fence = 2
    slot.entry.deadline = clock[0]
    clock[0] += 51
    board.header.renewed_at = clock[0]
    hung.end_overdue()

    assert slot.done == [signal.SIGUSR2, signal.SIGUSR2]


def test_a_worker_between_two_jobs_does_not_look_hung(pool, clock):
    hung, slot, _ = pool
    # The id of a job is there, the deadline is none or another job's: its writer is at work.
    slot.entry.changes += 1
    slot.entry.deadline = 0.0

    hung.end_overdue()

    assert slot.done == []


def test_a_job_whose_lease_cannot_be_renewed_is_handed_back_but_not_one_being_settled(pool, clock):
    hung, slot, board = pool
    slot.entry.deadline = clock[0] + 9999
    board.header.renewed_at = clock[0] - 0.81 * SETTINGS.lease_seconds
    slot.entry.phase = Phase.SETTLING
    hung.end_overdue()
    assert slot.done == []

    slot.entry.phase = Phase.WORKING
    hung.end_overdue()

    assert slot.done == [(Outcome.HANDED_BACK, "handed back: its lease could not be renewed")]


@pytest.mark.parametrize("job_id", [0, -1])
def test_a_job_of_any_number_is_watched(pool, clock, job_id):
    hung, slot, _ = pool
    slot.entry.begin_job(job_id, 2, 1, "visit x", seconds=10)

    clock[0] += 60
    hung.end_overdue()

    assert slot.done == [signal.SIGUSR2]


def test_a_worker_whose_job_was_cancelled_is_told_and_killed_if_its_task_goes_on(pool, clock):
    hung, slot, _ = pool
    slot.entry.withdraw(1, 1)
    hung.end_overdue()
    hung.end_overdue()
    assert slot.done == [signal.SIGUSR1]

    clock[0] += WITHDRAWN_SECONDS + 0.1
    hung.end_overdue()

    (outcome, reason) = slot.done[-1]
    assert outcome is Outcome.HANDED_BACK
    assert "job 1 was cancelled or taken away" in reason


def test_the_next_cancelled_job_of_a_worker_is_told_too(pool, clock):
    hung, slot, _ = pool
    slot.entry.withdraw(1, 1)
    hung.end_overdue()
    slot.entry.begin_job(2, 1, 1, "visit y", seconds=99)
    clock[0] += WITHDRAWN_SECONDS + 0.1
    slot.entry.withdraw(2, 1)
    hung.end_overdue()

    assert slot.done == [signal.SIGUSR1, signal.SIGUSR1]


@pytest.mark.parametrize("job_id", [1, 2])
def test_another_claim_than_the_one_that_was_taken_is_left_alone(pool, job_id):
    hung, slot, _ = pool
    slot.entry.withdraw(1, 1)
    slot.entry.begin_job(job_id, 2 if job_id == 1 else 1, 1, "visit x", seconds=10)

    hung.end_overdue()

    assert slot.done == []


def test_a_cancelled_job_at_an_irreversible_step_or_being_settled_is_left_alone(pool):
    hung, slot, _ = pool
    slot.entry.withdraw(1, 1)
    slot.entry.show_step("paying", StepKind.IRREVERSIBLE)
    hung.end_overdue()
    slot.entry.show_step("paid", StepKind.PLAIN)
    slot.entry.phase = Phase.SETTLING
    hung.end_overdue()

    assert slot.done == []
