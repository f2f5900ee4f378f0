"""What happened when: each thing once, with its times, also of those who were killed."""

from __future__ import annotations

import os
import subprocess
from datetime import timedelta

import pytest

from worker.guards import breakers, canaries
from worker.models import Claim
from worker.queue import events as keeping
from worker.queue import pause, runs
from worker.reporting import events
from worker.reporting.events import Kind
from worker.reporting.thinning import EVENTS_KEPT_DAYS, REMOVED_AT_ONCE

SITE = "site:example.com"


@pytest.fixture
def between(database, now):
    """List the events of the minutes around this test."""

    def between(*kinds):
        around = timedelta(minutes=10)
        return events.between(database, now - around, now + around, kinds or tuple(Kind))

    return between


def test_a_pause_is_an_event_from_its_beginning_to_its_end(database, between):
    pause.pause(database, "proxy list replaced", "mara@night-1")
    (event,) = between()
    assert (event.kind, event.why, event.ended_at) == (Kind.PAUSE, "proxy list replaced", None)

    assert pause.resume(database, "jo@night-1")

    (event,) = between()
    assert event.ended_at >= event.began_at
    assert event.detail["by"] == "mara@night-1"
    assert event.detail["resumed_by"] == "jo@night-1"


def test_a_second_pause_while_one_goes_on_is_the_same_event(database, between):
    pause.pause(database, "first", "me")
    pause.pause(database, "second", "me")
    pause.resume(database)
    assert not pause.resume(database)

    assert [event.why for event in between()] == ["first"]


def test_a_breaker_is_an_event_from_its_opening_until_its_canary_comes_back(database, between):
    for _ in range(breakers.SPIKE):
        breakers.note_failure(database, SITE, "visit", "HTTP 503")
    (event,) = between(Kind.BREAKER)
    assert (event.name, event.ended_at) == (SITE, None)
    assert event.why.endswith("the last: HTTP 503")

    claim = Claim(7, 1, 1, 1, 4, "visit", "{}", canary=SITE)
    database.transaction(lambda tx: canaries.send(tx, SITE, claim, 60.0))
    canaries.failed(database, claim, "HTTP 503", None)
    assert [event.ended_at for event in between(Kind.BREAKER)] == [None]
    database.transaction(lambda tx: canaries.send(tx, SITE, claim, 60.0))
    canaries.came_back(database, claim)

    (event,) = between(Kind.BREAKER)
    assert event.ended_at is not None
    assert event.detail["closed_by"] == "its canary, job 7"


def test_a_breaker_that_is_opened_and_closed_by_hand_is_an_event_too(database, between):
    breakers.open_by_hand(database, SITE, None, "their sale", "mara")
    breakers.close_by_hand(database, SITE, keep=False, by="jo")

    (event,) = between(Kind.BREAKER)
    assert (event.why, event.detail["by"], event.detail["closed_by"]) == (
        "their sale",
        "mara",
        "jo",
    )
    assert event.ended_at is not None


def test_a_breaker_that_another_task_closes_has_ended(database, between):
    for _ in range(breakers.SPIKE):
        breakers.note_failure(database, SITE, "visit", "HTTP 503")
    breakers.note_success(database, [SITE], "price")

    (event,) = between(Kind.BREAKER)
    assert event.detail["closed_by"] == "task price works there"


def test_an_outage_is_kept_with_its_host_and_how_long_it_was(database, between):
    keeping.keep_outage(database, "night-1", 3, 44.0)

    (event,) = between(Kind.OUTAGE)
    assert (event.host, event.run_id) == ("night-1", 3)
    assert (event.ended_at - event.began_at).total_seconds() == pytest.approx(44)


def test_a_run_and_its_workers_are_events_with_why_they_ended(database, between, new_run):
    run = new_run(os.getpid())
    first = runs.start_worker(database, run, 0)
    runs.end_worker(database, first, "killed by SIGKILL")
    second = runs.start_worker(database, run, 0)
    runs.end_worker(database, second, "finished")
    runs.end_run(database, run, {"stopped_by": "SIGTERM"})

    told = {event.kind: event for event in between(Kind.RUN)}
    assert told[Kind.RUN].why == "stopped (SIGTERM)"
    lives = between(Kind.WORKER)
    assert [(life.slot, life.restarts, life.why) for life in lives] == [
        (0, 0, "killed by SIGKILL"),
        (0, 1, "finished"),
    ]
    assert all(life.run_id == run and life.ended_at for life in lives)


def test_a_killed_run_ended_with_its_last_heartbeat_and_so_did_its_workers(
    database, between, new_run
):
    with subprocess.Popen(["sleep", "60"]) as process:
        run = new_run(process.pid)
        runs.start_worker(database, run, 1)
        assert [event.ended_at for event in between()] == [None, None]
        process.kill()
    database.run_statement("UPDATE runs SET heartbeat_at = heartbeat_at + INTERVAL 1 SECOND")

    run_event, life = between(Kind.RUN, Kind.WORKER)
    assert run_event.why == life.why == "killed"
    (row,) = database.run_statement("SELECT heartbeat_at FROM runs")
    assert run_event.ended_at == life.ended_at == row["heartbeat_at"]


def test_only_what_overlaps_the_time_is_told(database, now):
    keeping.keep_outage(database, "night-1", 3, 1.0)
    pause.pause(database, "goes on", "me")
    long_ago = now - timedelta(hours=1)

    assert events.between(database, long_ago, now - timedelta(minutes=1)) == []
    later = events.between(database, now + timedelta(hours=1), now + timedelta(hours=2))
    assert [event.kind for event in later] == [Kind.PAUSE]


def test_events_that_ended_long_ago_are_removed_and_what_goes_on_stays(database, between):
    for _ in range(3):
        keeping.keep_outage(database, "night-1", 3, 1.0)
    pause.pause(database, "for ever", "me")
    database.run_statement(
        "UPDATE events SET began_at = began_at - INTERVAL 100 DAY, "
        "ended_at = ended_at - INTERVAL 100 DAY WHERE id <> 1"
    )

    assert keeping.forget_old(database, EVENTS_KEPT_DAYS, REMOVED_AT_ONCE) == 2

    assert [event.kind for event in between()] == [Kind.PAUSE, Kind.OUTAGE]
