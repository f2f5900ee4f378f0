"""The status board: written by a worker, read by its launcher, and still there after its death."""

from __future__ import annotations

import os
import signal
import time

import pytest

from worker.models import StepKind
from worker.system.board import Board, Phase

# Later Pythons warn of forks beside threads, which other tests may have left running.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


def in_a_child(work) -> int:
    """Run something in a forked process that ends by SIGKILL; return how it ended."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_job_is_given_time_from_now_on():
    entry = Board(1).entries[0]
    entry.begin_job(4729, 7, 2, "visit", seconds=1)

    entry.allow(600)

    assert 590 < entry.deadline - time.monotonic() <= 600
    assert not entry.is_torn


def test_what_a_killed_worker_wrote_can_still_be_read():
    board = Board(3)

    def work():
        entry = board.entries[1]
        entry.incarnation = 2**40
        entry.begin_job(4729, 7, 2, "visit https://example.com", seconds=600)
        entry.show_step("signed in", StepKind.GUESSED)
        entry.done += 5

    assert in_a_child(work) == -signal.SIGKILL

    entry = board.entries[1]
    assert (entry.incarnation, entry.job_id, entry.fence, entry.attempt) == (2**40, 4729, 7, 2)
    assert (entry.label, entry.step, entry.done) == ("visit https://example.com", "signed in", 5)
    assert entry.phase == Phase.WORKING
    assert 590 < entry.deadline - time.monotonic() <= 600
    assert [other.job_id for other in board.entries] == [None, 4729, None]


def test_a_snapshot_never_mixes_two_jobs():
    board = Board(1)
    entry = board.entries[0]
    writer = os.fork()
    if writer == 0:
        number = 0
        while True:
            number += 1
            entry.begin_job(number, number, 1, str(number), seconds=number)
    seen, began = set(), time.monotonic()
    try:
        # On a busy machine the two take turns, and few snapshots show another job than the last.
        while time.monotonic() < began + (2 if len(seen) > 10 else 30):
            copy = entry.snapshot()
            if copy.is_torn or copy.job_id is None:
                continue
            seen.add(copy.job_id)
            assert (copy.fence, copy.label) == (copy.job_id, str(copy.job_id))
            assert copy.deadline - copy.claimed_at == pytest.approx(copy.job_id)
    finally:
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
    assert len(seen) > 10


def test_what_was_written_by_a_worker_killed_in_the_middle_is_torn():
    entry = Board(1).entries[0]
    entry.begin_job(1, 1, 1, "visit", seconds=5)
    assert not entry.snapshot().is_torn

    entry.changes += 1

    assert entry.snapshot().is_torn
    entry.clear()
    assert not entry.snapshot().is_torn


def test_the_heart_tells_the_launcher_through_the_header():
    board = Board(1)

    def work():
        board.header.pending = 50_000
        board.header.database_away_since = 12.5
        board.header.held_because = "site example.com is left alone"

    in_a_child(work)
    assert (board.header.pending, board.header.database_away_since) == (50_000, 12.5)
    assert board.header.held_because == "site example.com is left alone"


def test_a_settled_job_is_no_longer_shown_and_its_step_goes_with_the_next():
    entry = Board(1).entries[0]
    entry.begin_job(1, 1, 1, "visit", seconds=5)
    entry.show_step("half way", StepKind.GUESSED)
    entry.end_job()
    assert (entry.job_id, entry.phase, entry.deadline) == (None, Phase.IDLE, 0.0)
    assert entry.step == "half way"
    entry.begin_job(2, 1, 1, "visit", seconds=5)
    assert entry.step == ""


def test_a_new_incarnation_finds_its_place_empty_and_its_neighbours_untouched():
    board = Board(3)
    for number, entry in enumerate(board.entries):
        entry.incarnation = 10 + number
        entry.begin_job(number + 1, 1, 1, "x" * 500, seconds=5)
        entry.show_step("y" * 500, StepKind.GUESSED)
    board.entries[1].clear()
    assert [entry.incarnation for entry in board.entries] == [10, 0, 12]
    assert [entry.job_id for entry in board.entries] == [1, None, 3]
    assert (board.entries[1].label, board.entries[1].step) == ("", "")
    assert board.entries[2].label == "x" * 199


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\0b", "ab"),
        ("🦉" * 100, "🦉" * 29),
        ("x" * 118 + "ü", "x" * 118),
        ("caf\udce9", "caf?"),
        ("", ""),
    ],
)
def test_a_step_is_cut_without_breaking_a_character(text, shown):
    entry = Board(1).entries[0]
    entry.show_step(text, StepKind.GUESSED)
    assert entry.step == shown


def test_a_step_is_shown_with_its_kind_until_the_next_job_begins():
    entry = Board(1).entries[0]
    entry.begin_job(1, 1, 1, "order", seconds=5)
    assert entry.step_kind is StepKind.GUESSED
    entry.show_step("placing order", StepKind.IRREVERSIBLE)
    shown = entry.snapshot()
    assert (shown.step, shown.step_kind, shown.is_torn) == (
        "placing order", StepKind.IRREVERSIBLE, False
    )  # fmt: skip
    entry.begin_job(2, 1, 1, "order", seconds=5)
    assert (entry.step, entry.step_kind) == ("", StepKind.GUESSED)


def test_the_proxy_of_a_job_is_shown_until_the_next_job_begins():
    entry = Board(1).entries[0]
    entry.begin_job(1, 1, 1, "visit", 60)
    entry.show_proxy(None)
    assert entry.proxy is None
    entry.show_proxy("berlin")
    assert entry.snapshot().proxy == "berlin"

    entry.begin_job(2, 1, 1, "visit", 60)
    assert entry.proxy is None


@pytest.mark.parametrize("job_id", [0, -1, 2**62])
def test_any_number_may_be_a_jobs(job_id):
    entry = Board(1).entries[0]

    entry.begin_job(job_id, 3, 1, "visit x", 60)
    assert entry.snapshot().job_id == job_id

    entry.end_job()
    assert entry.snapshot().job_id is None
