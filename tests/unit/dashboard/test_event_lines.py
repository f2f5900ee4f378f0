"""What happened, in words: a restart says why the worker before it ended."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from worker.dashboard.charting import bands
from worker.dashboard.event_lines import lines_of
from worker.dashboard.wording import Clock
from worker.reporting.events import Event, Kind

CLOCK = Clock(UTC, "UTC")
START = datetime(2026, 1, 31, 18)  # noqa: DTZ001 - as the database has it


def life(slot, hour, why, restarts):
    began = START + timedelta(hours=hour)
    ended = began + timedelta(hours=1) if why else None
    return Event(
        Kind.WORKER, str(slot), began, ended, why, run_id=118, slot=slot, restarts=restarts
    )


def test_a_restart_says_how_the_life_before_it_ended():
    events = [
        life(3, 0, "killed by SIGKILL, out of memory", 0),
        life(1, 0, "finished", 0),
        life(3, 1, "", 1),
    ]

    (line,) = lines_of(events, CLOCK)

    assert line.text == "Worker 3 restarted: killed by SIGKILL, out of memory"
    assert line.more == "run 118, the first time"


def test_a_second_restart_has_the_ending_of_the_second_life():
    events = [life(0, 0, "hung", 0), life(0, 1, "exited with code 3", 1), life(0, 2, "", 2)]

    latest, earlier = lines_of(events, CLOCK)

    assert latest.text.endswith("exited with code 3")
    assert latest.more == "run 118, 2 times by then"
    assert earlier.text.endswith("hung")


def test_a_restart_without_a_known_ending_says_only_that():
    (line,) = lines_of([life(0, 0, "", 1)], CLOCK)

    assert line.text == "Worker 0 restarted"


def test_the_pause_of_one_queue_is_named_and_shades_no_chart():
    until = START + timedelta(hours=1)
    paused = Event(Kind.PAUSE, "slow", START, until, "asked us to", detail={"by": "mara"})
    whole = Event(Kind.PAUSE, "", START, until, "", detail={"by": "mara"})

    assert lines_of([paused], CLOCK)[0].text == "Queue slow paused for 1 h 00 min by mara"
    assert lines_of([whole], CLOCK)[0].text == "Paused for 1 h 00 min by mara"
    assert len(bands([paused, whole], START, until)) == 1
