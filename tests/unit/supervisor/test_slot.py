"""A slot starts its next worker later and later, gives up on one that never boots, and says why."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import SimpleNamespace

import pytest

from worker.exit_codes import WorkerExit
from worker.supervisor import slot as slots
from worker.supervisor.slot import Slot, State
from worker.system.board import Board, Phase

# Later Pythons warn of forks beside threads, which other tests may have left running.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


@pytest.fixture
def make_slot() -> Iterator[Callable[..., Slot]]:
    """Slots of real processes with short lives."""
    made: list[Slot] = []

    def make(*, boots: bool, lives_seconds: float = 0.0, code: int = 7) -> Slot:
        board = Board(1)
        entry = board.entries[0]

        def main(_slot: int) -> int:
            if boots:
                entry.phase = Phase.IDLE
            time.sleep(lives_seconds)
            return code

        made.append(Slot(0, entry, main))
        return made[-1]

    yield make
    for each in made:
        if each.pid:
            with suppress(ProcessLookupError):
                os.kill(each.pid, 9)
            os.waitpid(each.pid, 0)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock for slots that only the tests move."""
    now = [1000.0]
    monkeypatch.setattr(slots, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def start_and_bury(slot: Slot, clock: list[float], lives_seconds: float = 0.0) -> float:
    """Let a slot have its next worker; return how long it had to wait for its start."""
    began = clock[0]
    while slot.state is State.WAITING:
        assert clock[0] - began < 100
        slot.start_if_due()
        if slot.state is State.WAITING:
            clock[0] += 0.001
    waited = clock[0] - began
    _, status = os.waitpid(slot.pid, 0)
    clock[0] += lives_seconds
    slot.ended(os.waitstatus_to_exitcode(status), is_stopping=False, is_out_of_memory=False)
    return waited


def test_the_wait_before_the_next_worker_grows(make_slot, clock):
    slot = make_slot(boots=True)

    waits = [start_and_bury(slot, clock) for _ in range(5)]

    assert waits[:2] == [0.0, 0.0]
    # Each is doubled, give or take a quarter.
    for wait, middle in zip(waits[2:], (0.4, 0.8, 1.6), strict=True):
        assert 0.75 * middle <= wait <= 1.25 * middle + 0.002
    assert slot.crashes == 5
    assert slot.state is State.WAITING


def test_the_wait_is_short_again_after_a_proven_survival(make_slot, clock):
    slot = make_slot(boots=True)
    for _ in range(4):
        start_and_bury(slot, clock)

    start_and_bury(slot, clock, lives_seconds=slots.SURVIVAL_SECONDS + 1)

    # The fifth crash in a row would have made it 2.4 s at least.
    assert start_and_bury(slot, clock) == 0.0


def test_a_slot_that_never_boots_is_given_up(make_slot, clock):
    slot = make_slot(boots=False, code=69)

    for _ in range(2):
        start_and_bury(slot, clock)
        assert slot.state is State.WAITING
    start_and_bury(slot, clock)

    assert slot.state is State.GIVEN_UP
    assert slot.last_ending == "exited with code 69"
    slot.start_if_due()
    assert slot.pid == 0


@pytest.mark.parametrize("code", [WorkerExit.SHORT_OF_SOMETHING, WorkerExit.NO_DATABASE])
def test_a_slot_that_lacks_what_may_come_back_is_never_given_up(make_slot, clock, code):
    slot = make_slot(boots=False, code=code)

    waits = [start_and_bury(slot, clock) for _ in range(6)]

    assert slot.state is State.WAITING
    assert waits[-1] > waits[2], "it is tried later and later"
    assert slot.crashes == 0


@pytest.mark.parametrize("code", [WorkerExit.SHORT_OF_SOMETHING, WorkerExit.NO_DATABASE])
def test_the_job_of_a_worker_that_lacked_something_is_handed_back(make_slot, code):
    slot = make_slot(boots=True)
    slot.entry.begin_job(7, 1, 1, "visit", 60.0)
    # Its task is over: its outcome could not be written, or the next browser not be started.
    slot.entry.phase = Phase.SETTLING

    death = slot.ended(code, is_stopping=False, is_out_of_memory=False)

    assert (death["job_id"], death["outcome"]) == (7, "handed_back")
    assert slot.crashes == 0


def test_the_exit_code_of_a_task_that_ends_its_process_is_not_its_workers_word(make_slot):
    slot = make_slot(boots=True)
    slot.entry.begin_job(7, 1, 1, "visit", 60.0)

    death = slot.ended(WorkerExit.NO_DATABASE, is_stopping=False, is_out_of_memory=False)

    assert (death["outcome"], slot.crashes) == ("crashed", 1)


def test_a_worker_that_ends_by_itself_is_not_started_again(make_slot, clock):
    slot = make_slot(boots=True, code=0)

    start_and_bury(slot, clock)

    assert (slot.state, slot.crashes) == (State.FINISHED, 0)


def test_a_death_for_want_of_memory_is_told_as_such(make_slot):
    slot = make_slot(boots=True, lives_seconds=60)
    slot.start_if_due()
    os.kill(slot.pid, 9)
    os.waitpid(slot.pid, 0)

    death = slot.ended(-9, is_stopping=False, is_out_of_memory=True)

    assert death["ending"] == "killed by SIGKILL, out of memory"
    assert death["outcome"] == "crashed"
