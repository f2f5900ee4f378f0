"""The timeline in words: early or late against the plan, and facts with times and names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from worker.dashboard import timeline_words
from worker.dashboard.wording import Clock
from worker.reporting.events import Event, Kind
from worker.reporting.lanes import Lane

CLOCK = Clock(UTC, "UTC")
START = datetime(2026, 1, 31, 18)  # noqa: DTZ001 - as the database has it
END = START + timedelta(hours=13)


def at(minutes):
    return START + timedelta(minutes=minutes)


def run(ended, claims_until=None):
    return Event(
        Kind.RUN, "night-1", START, ended, "drained", run_id=118,
        detail={"claims_until": claims_until},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("planned", "said"),
    [
        (None, "Run 118 drained at 05:52."),
        (at(780), "Run 118 drained at 05:52, 1 h 08 min before 07:00."),
        (at(700), "Run 118 drained at 05:52, 12 min after 05:40."),
        (at(712), "Run 118 drained at 05:52, on time for 05:52."),
    ],
)
def test_a_run_that_was_given_an_end_says_how_it_came_out(planned, said):
    found = timeline_words.title([run(at(712), planned)], END, CLOCK, is_live=True)

    assert found == said


def test_a_run_at_work_is_neither_early_nor_late():
    assert timeline_words.title([run(None, at(780))], END, CLOCK, is_live=True) == (
        "Run 118 is at work."
    )


def life(slot, minutes, restarts, why=""):
    ended = at(minutes + 10) if why else None
    return Event(Kind.WORKER, str(slot), at(minutes), ended, why, run_id=118, slot=slot,
                 restarts=restarts)  # fmt: skip


def words(*events):
    found = timeline_words.facts_of(events, START, END, CLOCK)
    return [each.bold + each.rest for each in found]


def test_facts_say_when_where_how_long_and_by_whom():
    told = words(
        Event(Kind.OUTAGE, "night-1", at(341), at(341) + timedelta(seconds=44), ""),
        Event(Kind.BREAKER, "site:portal.example.org", at(483), at(514), ""),
        Event(Kind.PAUSE, "", at(135), at(141), "", detail={"by": "mara"}),
        Event(Kind.PAUSE, "slow", at(135), at(241), "", detail={"by": "mara"}),
        life(3, 200, 1), life(3, 300, 2), life(1, 320, 1),
    )  # fmt: skip

    assert told == [
        "1 outage, 44 s, at 23:41",
        "1 breaker opened, 31 min, at 02:03: portal.example.org",
        "1 pause, 6 min, at 20:15, by mara",
        "3 restarts, 2 of them worker 3",
    ]


def test_several_are_added_up_and_what_did_not_happen_is_said():
    told = words(*(Event(Kind.OUTAGE, "a", at(n), at(n + 1), "") for n in (10, 20)), life(2, 30, 1))

    assert told == [
        "2 outages, 2 min in all, the last at 18:20",
        "No breaker opened",
        "Never paused",
        "1 restart of worker 2",
    ]


def test_a_lane_says_why_its_workers_were_restarted():
    lane = Lane(118, 3, lives=[life(3, 0, 0, "out of memory"), life(3, 20, 1, "out of memory"),
                               life(3, 40, 2, "hung"), life(3, 60, 3)])  # fmt: skip

    assert timeline_words.reasons_of(lane) == "out of memory (2 times), hung"
