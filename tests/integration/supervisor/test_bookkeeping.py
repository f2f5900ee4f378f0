"""What a heart writes down: outages with their length, and how its queue and workers stand."""

from __future__ import annotations

import json
import os
import time

import pytest

from worker.errors import DatabaseUnavailable
from worker.queue import runs
from worker.recovery import live_runs
from worker.reporting import figures
from worker.settings import RunSettings
from worker.supervisor.bookkeeping import LOOK_SECONDS, Bookkeeping
from worker.system.board import Board


@pytest.fixture
def board():
    return Board(2)


@pytest.fixture
def books(database, board):
    settings = RunSettings(database=database.settings, workers=2, total=2)
    return Bookkeeping(database, board, runs.start_run(database, settings, os.getpid()))


def outages(database):
    rows = database.run_statement(
        "SELECT TIMESTAMPDIFF(MICROSECOND, began_at, ended_at) / 1000000 AS seconds FROM events"
    )
    return [float(row["seconds"]) for row in rows]


def test_an_outage_is_kept_from_the_last_answer_to_the_next(database, board, books, monkeypatch):
    books.note_answer()
    # The error came when the timeout of ten seconds was over, and now it is 44 seconds.
    board.header.database_away_since = time.monotonic() + 10
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 44)

    books.note_answer()
    books.note_answer()

    assert outages(database) == [pytest.approx(44, abs=0.5)]
    assert board.header.database_away_since == 0.0


def test_an_outage_that_began_under_the_heart_before_is_kept_too(database, board, books):
    board.header.database_away_since = time.monotonic() - 30

    books.note_answer()

    assert outages(database) == [pytest.approx(30, abs=0.5)]


def test_a_connection_that_was_opened_again_at_once_is_no_outage(database, board, books):
    books.note_answer()
    board.header.database_away_since = time.monotonic()

    books.note_answer()

    assert outages(database) == []


def test_the_pulse_tells_how_the_queue_and_each_worker_stand(database, board, books):
    board.entries[1].begin_job(7, 1, 1, "visit https://example.com", 60.0)
    assert "pending" not in json.loads(books.pulse())
    board.header.pending, board.header.counted_at = 12, time.monotonic()
    board.header.held_because = "a breaker"

    runs.beat(database, books.run_id, books.pulse())

    (run,) = live_runs.alive(database)
    assert (run.pulse["pending"], run.pulse["held_because"]) == (12, "a breaker")
    idle, busy = run.pulse["workers"]
    assert (idle["job_id"], busy["job_id"], busy["phase"]) == (None, 7, "working")
    # Whichever limit holds: the job's, its task's or the run's.
    assert (idle["limit_seconds"], busy["limit_seconds"]) == (None, 60.0)


def test_the_pulse_tells_when_the_run_claims_no_more(database, board, books):
    runs.beat(database, books.run_id, books.pulse())
    assert live_runs.alive(database)[0].claims_until is None
    board.header.claim_until = time.monotonic() + 3600

    runs.beat(database, books.run_id, books.pulse())

    (run,) = live_runs.alive(database)
    left = (run.claims_until - run.heartbeat_at).total_seconds()
    assert left == pytest.approx(3600, abs=32)


def test_the_rollups_are_kept_and_given_up_at_the_end(database, books):
    books.keep_rollups()
    assert figures.state(database).owner is not None

    books.close()

    assert figures.state(database).owner is None


def test_a_rollup_that_cannot_be_counted_is_no_outage(books, monkeypatch):
    def too_slow():
        raise DatabaseUnavailable("the statement took too long")

    monkeypatch.setattr(type(books._rollups), "beat", lambda _: too_slow())
    before = time.monotonic()

    books.keep_rollups()

    assert books._next_look >= before + LOOK_SECONDS


def test_the_pulse_names_browsers_elsewhere_and_no_others(board, books):
    board.entries[1].show_browser("wss://a:1/…", "https://app.test/s")

    first, second = json.loads(books.pulse())["workers"]

    assert "browser" not in first
    assert (second["browser"], second["live_view"]) == ("wss://a:1/…", "https://app.test/s")


def test_a_pulse_keeps_which_tasks_need_no_browser(database, board):
    settings = RunSettings(database=database.settings, workers=2, total=2)
    run_id = runs.start_run(database, settings, os.getpid(), ["tidy"], ["tidy"])
    books = Bookkeeping(database, board, run_id)

    runs.beat(database, run_id, books.pulse())

    # Another heart, after the first has died, reads it from there.
    assert json.loads(Bookkeeping(database, board, run_id).pulse())["without_browser"] == ["tidy"]
