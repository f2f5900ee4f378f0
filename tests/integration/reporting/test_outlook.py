"""Rates are those of the last jobs that ended; the time to go leaves out what cannot be done."""

from __future__ import annotations

import json
import os
from datetime import timedelta

import pytest

from worker.queue import runs
from worker.reporting import outlook


@pytest.fixture
def at_work(database, new_run, now, ended):
    """A live run with a worker that does a job every ten seconds."""
    run = new_run(os.getpid())
    worker = runs.start_worker(database, run, 0)
    database.run_statement("UPDATE runs SET started_at = started_at - INTERVAL 1 HOUR")
    for number in range(90):
        ended(now - timedelta(seconds=10 * number), incarnation=worker)
    return run


def test_the_rate_of_a_run_is_that_of_the_last_quarter_of_an_hour(database, at_work):
    assert outlook.rates(database) == {at_work: pytest.approx(0.1, rel=0.05)}


def test_a_full_sample_is_judged_by_the_time_it_took(database, at_work, monkeypatch):
    monkeypatch.setattr(outlook, "SAMPLE", 30)

    assert outlook.rates(database) == {at_work: pytest.approx(0.1, rel=0.1)}


def test_a_run_that_has_just_begun_is_judged_by_its_own_time(database, at_work):
    database.run_statement("UPDATE runs SET started_at = UTC_TIMESTAMP(6) - INTERVAL 90 SECOND")

    assert outlook.rates(database) == {at_work: pytest.approx(1.0, rel=0.1)}


def test_the_time_to_go_leaves_out_what_waits_or_is_held_back(database, at_work):
    pulse = {"pending": 1000, "in_progress": 6, "waiting": 64, "held_back": 736}
    runs.beat(database, at_work, json.dumps({**pulse, "held_because": "a breaker", "workers": []}))

    told = outlook.outlook(database)

    assert told.to_go == 206
    assert told.eta_seconds == pytest.approx(2060, rel=0.05)
    assert told.held_because == "a breaker"


def test_without_a_live_run_nobody_knows_how_long_it_takes(database, at_work):
    runs.end_run(database, at_work, {})

    assert outlook.outlook(database).eta_seconds is None
