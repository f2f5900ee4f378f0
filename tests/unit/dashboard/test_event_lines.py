"""What happened, in words: a restart says why the worker before it ended."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from worker.dashboard.charting import bands
from worker.dashboard.event_lines import last_run, legend, lines_of
from worker.dashboard.wording import Clock
from worker.reporting.charts.marks import Mark
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


def test_restarts_of_one_worker_for_one_reason_are_joined():
    lives = [life(3, hour, "out of memory", restarts) for restarts, hour in enumerate((0, 2, 4, 6))]
    lives += [life(3, 8, "hung", 4), life(3, 9, "", 5), life(1, 3, "", 1)]

    lines = sorted(lines_of(lives, CLOCK, joined=True), key=lambda line: line.at)

    assert [(line.text, line.more) for line in lines] == [
        ("Worker 3 restarted: out of memory", "again at 22:00, 00:00 and 02:00"),
        ("Worker 1 restarted", "run 118, the first time"),
        ("Worker 3 restarted: hung", "run 118, 5 times by then"),
    ]


def test_a_legend_says_when_and_how_long_and_only_of_what_was():
    until = START + timedelta(hours=3)
    pauses = [Event(Kind.PAUSE, "", START + timedelta(minutes=m), START + timedelta(minutes=m + 6),
                    "") for m in (15, 60)]  # fmt: skip
    away = Event(Kind.OUTAGE, "a", START, START + timedelta(seconds=44), "")
    shut = Event(Kind.BREAKER, "site:a.example", START + timedelta(hours=1), None, "")

    def words(*events):
        return [text for _, text in legend(events, START, until, CLOCK)]

    assert words(*pauses, away, shut) == [
        "paused 2 times, 12 min in all", "database away 18:00, 44 s", "breaker open since 19:00",
    ]  # fmt: skip
    assert words() == []


def test_a_run_with_too_many_failures_has_no_tick():
    def mark(**summary):
        detail = {"summary": summary}
        ended = START + timedelta(hours=1)
        event = Event(Kind.RUN, "a", START, ended, "drained", run_id=118, detail=detail)
        return lines_of([event], CLOCK)[0].mark

    assert mark(exit_code=0) is Mark.DONE
    assert mark(exit_code=10) is Mark.LOOK


def test_the_last_run_is_told_as_ended_or_at_work():
    ended = Event(Kind.RUN, "a", START, START + timedelta(hours=1), "drained", run_id=118)
    alive = Event(Kind.RUN, "a", START, None, "", run_id=119)

    assert last_run([ended], CLOCK) == "Run 118 ended at 19:00: drained."
    assert last_run([ended, alive], CLOCK) == "Run 119 is at work."
    assert last_run([], CLOCK) == ""
