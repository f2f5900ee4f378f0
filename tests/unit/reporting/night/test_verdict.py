"""The four verdicts, and what each is said for."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.unit.reporting.night.hostile_night import END, hostile_night
from worker.claiming import held_back
from worker.claiming.held_back import HeldBack
from worker.queue import pause
from worker.recovery.live_runs import Life
from worker.reporting import outlook
from worker.reporting.night import failing
from worker.reporting.night.failing import Ended
from worker.reporting.night.model import Counts, GroupTotals, Level, Measures, Usual
from worker.reporting.night.verdict import judge
from worker.reporting.outlook import Outlook


@pytest.fixture(autouse=True)
def nobody_has_paused_and_nothing_is_held(monkeypatch):
    monkeypatch.setattr(pause, "paused", lambda db: None)
    monkeypatch.setattr(held_back, "count", lambda db, seconds: [])
    monkeypatch.setattr(failing, "lately", lambda db, now, in_error: Ended())


def said(
    counts, *, usual=None, life=Life.ENDED, silent=0.0, summary=None, past=False, others=(), **more
):
    night = hostile_night("night-1")
    over = {} if life is Life.ENDED else {"ended_at": None, **more}
    run = replace(night.window.runs[0], life=life, silent_seconds=silent, summary=summary, **over)
    now = END + timedelta(hours=1 if past else 0)
    window = replace(night.window, now=now, run=run if past else None, runs=(*others, run))
    return judge(None, window, counts, Measures(), usual or Usual(0, Measures()), GroupTotals())


def counts(done=0, failed=0, pending=0, running=0, waiting=0):
    return Counts(done, failed, 0, pending, running, waiting, 0)


def test_all_done_or_explained_lets_one_sleep():
    verdict = said(counts(49_659, 341))

    assert verdict.level is Level.SLEEP
    assert verdict.sentence == "All 50,000 jobs are done or explained."
    assert said(counts(12)).sentence == "All 12 jobs are done."
    assert said(counts()).sentence == "Nothing was to be done."


def test_many_failures_are_worth_a_look_unless_they_are_usual():
    verdict = said(counts(900, 100))

    assert verdict.level is Level.LOOK
    assert verdict.sentence == "Look when you are up: 100 (10 %) of 1,000 jobs failed."
    usual = Usual(7, Measures(done=900, failed=95))
    assert said(counts(900, 100), usual=usual).level is Level.SLEEP


def test_jobs_left_with_nobody_at_work_are_worth_getting_up():
    assert said(counts(10, pending=1200)).sentence == (
        "Get up: 1,200 jobs are left, and no run is at work. Start one: launcher.py run"
    )


BREAKER = "the breaker of site:a is open"


def hold(monkeypatch, jobs, *, or_more=False):
    found = [HeldBack("site:a", BREAKER, jobs, or_more)]
    monkeypatch.setattr(held_back, "count", lambda db, seconds: found)


def test_jobs_held_back_or_waiting_can_wait_for_the_morning(monkeypatch):
    assert said(counts(10, pending=5, waiting=5)).level is Level.LOOK
    hold(monkeypatch, 4)
    held = said(counts(10, pending=5, waiting=1))
    assert held.level is Level.LOOK
    assert held.sentence == (
        f"Look when you are up: 5 jobs are left: 4 held back, because {BREAKER}; "
        "1 waiting for their time."
    )
    hold(monkeypatch, 5)
    held = said(counts(10, pending=5))
    assert held.sentence == f"Look when you are up: 5 jobs are held back: {BREAKER}."


def test_each_reason_is_told_with_its_own_number_of_jobs(monkeypatch):
    reasons = [("site:a", BREAKER, 19), ("task:b", "no task", 2), ("c", "x", 1), ("d", "y", 1)]
    found = [HeldBack(*each) for each in reasons]
    monkeypatch.setattr(held_back, "count", lambda db, seconds: found)
    summary = {"held_back": [item.as_json() for item in found]}

    told = f"19 held back, because {BREAKER}; 2 held back, because no task; 2 held back for other"
    for verdict, were in (
        (said(counts(10, pending=23)), "are"),
        (said(counts(10, pending=23), summary=summary, past=True), "were"),
    ):
        assert verdict.sentence == f"Look when you are up: 23 jobs {were} left: {told} reasons."


@pytest.mark.parametrize(("jobs", "or_more"), [(4, False), (1, True)])
def test_a_few_held_jobs_do_not_hide_that_nobody_works(monkeypatch, jobs, or_more):
    hold(monkeypatch, jobs, or_more=or_more)
    assert said(counts(10, pending=1200)).sentence.startswith("Get up: 1,200 jobs are left")


def test_where_the_count_was_cut_short_the_newest_run_says_what_it_left_held_back(monkeypatch):
    hold(monkeypatch, 1, or_more=True)
    summary = {"held_back": [{"jobs": 5, "reason": BREAKER}]}
    assert said(counts(10, pending=5), summary=summary).level is Level.LOOK
    # Of a killed run nobody knows, and what an older one left is history.
    killed = replace(hostile_night().window.runs[0], run_id=119, life=Life.GONE, ended_at=None)
    assert said(counts(10, pending=5), summary=summary, others=(killed,)).level is Level.GET_UP


@pytest.mark.parametrize(
    ("held", "waiting", "words"),
    [(5, 0, f"5 jobs were held back: {BREAKER}"), (4, 0, "5 jobs were left at its end"),
     (0, 5, "5 jobs were left, waiting for their time")],
)  # fmt: skip
def test_a_past_run_says_what_it_left(held, waiting, words):
    summary = {"held_back": [{"jobs": held, "reason": BREAKER}] if held else []}
    verdict = said(counts(10, pending=5, waiting=waiting), summary=summary, past=True)
    assert verdict.sentence == f"Look when you are up: {words}."


def test_a_silent_run_means_that_nobody_can_tell():
    verdict = said(counts(10, pending=5), life=Life.SILENT, silent=200)

    assert verdict.level is Level.CANNOT_TELL
    assert "has been silent since 05:52:00" in verdict.sentence
    assert END.hour == 4


@pytest.mark.parametrize(
    ("known", "level", "words"),
    [
        (Outlook(1.0, {}, 60, 0, 0, 0), Level.SLEEP, "the rest by about 05:53"),
        (Outlook(1.0, {}, 90, 0, 0, 30), Level.SLEEP, "without 30 jobs held back"),
        (Outlook(0.0, {}, 60, 0, 0, 0), Level.GET_UP, "nothing has ended for 15 min"),
    ],
)
def test_while_a_run_goes_on_it_depends_on_how_it_goes(monkeypatch, known, level, words):
    # How fast a live run goes is told by another module, with tests of its own.
    monkeypatch.setattr(outlook, "outlook", lambda db, runs: known)
    monkeypatch.setattr(failing, "lately", lambda db, now, in_error: Ended(10, 0))
    verdict = said(counts(10, pending=60), life=Life.ALIVE)

    assert verdict.level is level
    assert words in verdict.sentence
    assert verdict.sentence.startswith(level.value)


@pytest.mark.parametrize(
    ("night", "lately", "words"),
    [
        (counts(410, 590, 60), Ended(), "590 (59 %) of the 1,000 jobs that ended have failed; "),
        (
            counts(9000, 40, 60),
            Ended(5, 35),
            "35 (88 %) of the 40 jobs that ended in the last hour",
        ),
    ],
)
def test_many_failures_are_worth_a_look_while_the_run_goes_on(monkeypatch, night, lately, words):
    monkeypatch.setattr(outlook, "outlook", lambda db, runs: Outlook(1.0, {}, 60, 0, 0, 0))
    monkeypatch.setattr(failing, "lately", lambda db, now, in_error: lately)
    verdict = said(night, life=Life.ALIVE)

    assert verdict.level is Level.LOOK
    assert verdict.sentence.startswith(f"Look when you are up: {words}")
    assert "the rest by about 05:53" in verdict.sentence
    usual = Usual(7, Measures(done=10, failed=40))
    assert said(night, usual=usual, life=Life.ALIVE).level is Level.SLEEP


def test_a_run_that_will_not_be_ready_in_time_is_worth_getting_up(monkeypatch):
    monkeypatch.setattr(outlook, "outlook", lambda db, runs: Outlook(1.0, {}, 7200, 0, 0, 0))
    monkeypatch.setattr(failing, "lately", lambda db, now, in_error: Ended(10, 0))
    alive = {"life": Life.ALIVE, "pulse": {"claims_for": 3600}}

    late = said(counts(10, pending=7200), **alive)
    assert late.level is Level.GET_UP
    assert "the rest takes until about 07:52, and claiming stops at 06:52" in late.sentence
    monkeypatch.setattr(outlook, "outlook", lambda db, runs: Outlook(1.0, {}, 3000, 0, 0, 0))
    assert said(counts(10, pending=3000), **alive).level is Level.SLEEP


def test_a_pause_is_no_stall_and_says_who(monkeypatch):
    asked = {"set_by": "mara", "reason": "a look", "set_at": END}
    monkeypatch.setattr(pause, "paused", lambda db: asked)
    monkeypatch.setattr(outlook, "outlook", lambda db, runs: Outlook(0.0, {}, 60, 0, 0, 0))

    verdict = said(counts(10, pending=60), life=Life.ALIVE)

    assert verdict.level is Level.LOOK
    assert verdict.sentence == (
        "Look when you are up: paused since 05:52 by mara: a look; "
        "60 jobs wait for: launcher.py resume"
    )


@pytest.mark.parametrize(("failed", "level"), [(0, Level.SLEEP), (6, Level.LOOK)])
def test_at_its_beginning_a_run_has_no_end_yet(monkeypatch, failed, level):
    monkeypatch.setattr(outlook, "outlook", lambda db, runs: Outlook(0.0, {}))

    verdict = said(counts(4, failed, 60), life=Life.ALIVE, started_at=END)

    assert verdict.level is level
    assert "it is too early to say when the rest has" in verdict.sentence


def test_a_run_whose_heart_has_not_counted_is_judged_by_the_reports_own_count(monkeypatch):
    monkeypatch.setattr(outlook, "outlook", lambda db, runs: Outlook(0.0, {}))
    hours_ago = {"life": Life.ALIVE, "started_at": END - timedelta(hours=3)}

    assert said(counts(4, 0, 60), **hours_ago).level is Level.GET_UP
    hold(monkeypatch, 50)
    assert said(counts(4, 0, 60, waiting=10), **hours_ago).level is Level.SLEEP


def test_a_killed_run_is_told_beside_a_live_one_and_where_nothing_is_left(monkeypatch):
    killed = replace(hostile_night().window.runs[0], life=Life.GONE, host="night-2", ended_at=None)
    monkeypatch.setattr(outlook, "outlook", lambda db, runs: Outlook(1.0, {}, 60, 0, 0, 0))

    beside = said(counts(10, pending=60), life=Life.ALIVE, others=(killed,))
    assert beside.level is Level.LOOK
    assert beside.sentence.startswith("Look when you are up: run 118 on night-2 is gone; ")
    alone = said(counts(10), life=Life.GONE)
    assert alone.sentence == (
        "Look when you are up: run 118 on night-1 was killed at 05:52, but nothing is left to do."
    )
