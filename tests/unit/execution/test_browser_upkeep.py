"""A browser elsewhere is waited for, moved home, and let go while there is no work."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from worker.errors import BrowserAway, LaunchFailed
from worker.execution import browser_upkeep
from worker.execution.browser_upkeep import BrowserUpkeep
from worker.system.board import Board


@pytest.fixture
def session():
    told = []
    remote = SimpleNamespace(facts=None, is_home_back=False)
    return SimpleNamespace(
        told=told, is_alive=True, jobs_since_launch=0, remote=remote,
        profile=SimpleNamespace(hold=None), browser_version=lambda: "156.0.1",
        processes=lambda: (None, None), open=lambda: told.append("open"),
        recycle=lambda: told.append("recycle"), rest=lambda: told.append("rest"),
    )  # fmt: skip


@pytest.fixture
def upkeep(session):
    def make(**changes) -> BrowserUpkeep:
        settings = {
            "elsewhere": SimpleNamespace(has_default_context=False), "recycle_jobs": 500,
            "recycle_mb": 1500, "follow": False, "wait_retries_seconds": 100.0,
        }  # fmt: skip
        return BrowserUpkeep(SimpleNamespace(**{**settings, **changes}), session, entry())

    return make


def entry():
    return Board(1).entries[0]


@pytest.fixture
def clock(monkeypatch):
    """A clock that only waiting moves."""
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(browser_upkeep.time, "monotonic", lambda: clock.now)

    def wait(seconds: float) -> None:
        clock.now += seconds

    clock.wait = wait
    return clock


def test_a_browser_is_waited_for_as_long_as_retries_are(upkeep, clock):
    kept = upkeep()

    def wait_on() -> None:
        while True:
            kept.wait_for_browser(BrowserAway("none", after=30), clock)

    with pytest.raises(LaunchFailed, match="none; waited for 100 s") as failed:
        wait_on()

    assert not failed.value.is_passing
    assert 1100 < clock.now < 1105


def test_who_follows_waits_for_ever(upkeep, clock):
    kept = upkeep(follow=True)
    for _ in range(1000):
        kept.wait_for_browser(BrowserAway("none", after=30), clock)


def test_a_session_that_nobody_uses_is_let_go(upkeep, session, clock):
    kept = upkeep()
    kept.make_ready(None)
    kept.idle()
    assert session.told == []

    clock.now += browser_upkeep.IDLE_SECONDS
    kept.idle()

    assert session.told == ["rest"]


def test_a_browser_of_this_machine_stays(upkeep, session, clock):
    kept = upkeep(elsewhere=None)
    clock.now += browser_upkeep.IDLE_SECONDS
    kept.idle()

    assert session.told == []


def test_a_moved_worker_goes_home_between_jobs(upkeep, session, clock):
    session.remote.is_home_back = True
    upkeep().make_ready(None)

    assert session.told == ["recycle"]


def test_no_job_is_claimed_with_the_end_of_another_where_each_has_its_own_session(upkeep):
    assert upkeep(elsewhere=SimpleNamespace(has_default_context=True)).is_due(None)
    assert not upkeep().is_due(None)


def test_the_board_shows_where_the_browser_is(upkeep, session):
    kept = upkeep()
    session.remote.facts = {
        "endpoint": "ws://a:1",
        "browser_session": "s-1",
        "live_view": "https://app.test/s-1?token=hunter2hunter2",
    }
    session.on_launch()

    assert kept.entry.browser == "ws://a:1, session s-1"
    assert kept.entry.browser_version == "156.0.1"
    assert kept.entry.live_view.startswith("https://app.test/s-1")
    assert "hunter2" not in kept.entry.live_view

    session.remote.facts = None
    session.on_launch()
    assert kept.entry.browser == ""


def test_memory_is_read_after_some_jobs_and_not_more_often_than_growth_could_matter(
    upkeep, session, clock
):
    session.memory_mb = lambda: session.told.append("memory") or 100.0
    kept = upkeep(elsewhere=None)

    def do_jobs(number: int, seconds: float) -> None:
        for _ in range(number):
            session.jobs_since_launch += 1
            clock.wait(seconds / number)
            if kept.is_due:
                kept.make_ready(None)

    do_jobs(9, seconds=60)
    assert session.told == []
    do_jobs(1, seconds=1)
    assert session.told == ["memory"]
    do_jobs(100, seconds=4.9)
    assert session.told == ["memory"]
    do_jobs(1, seconds=0.2)
    assert session.told == ["memory"] * 2


def test_a_browser_that_has_grown_is_replaced(upkeep, session, clock):
    session.memory_mb = lambda: 1501.0
    session.jobs_since_launch = 10

    upkeep(elsewhere=None).make_ready(None)

    assert session.told == ["recycle"]
