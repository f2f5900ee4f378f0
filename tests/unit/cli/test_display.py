"""What a run looks like: live on a terminal, a line now and then elsewhere, nothing if quiet."""

from __future__ import annotations

import io
import re
import threading
from dataclasses import replace

import pytest
from rich.console import Console

from worker.cli.display import FORCED_BY, PlainDisplay, QuietDisplay, Rate, make_display
from worker.cli.live_display import LiveDisplay
from worker.database_settings import DatabaseSettings
from worker.settings import RunSettings
from worker.supervisor.view import AutoNumber, PoolView, WorkerView

SETTINGS = RunSettings(database=DatabaseSettings(password="hunter2"), workers=2, total=4, offset=2)
IDLE = WorkerView(
    slot=3, doing="idle", job_id=None, label="", step="", age_seconds=0, done=7, failed=0
)
BUSY = WorkerView(
    slot=2,
    doing="working",
    job_id=4729,
    label="visit https://example.com/",
    step="opened, HTTP 200",
    age_seconds=83,
    done=4,
    failed=1,
)
VIEW = PoolView(
    seconds=1.0,
    done=11,
    failed=1,
    retried=0,
    left=2000,
    waiting=0,
    is_stopping=False,
    database_away_seconds=0.0,
    workers=[BUSY, IDLE],
)


@pytest.fixture
def console():
    return Console(file=io.StringIO(), force_terminal=True, width=160, height=30)


@pytest.fixture
def live(console):
    display = LiveDisplay(console, SETTINGS)
    yield display
    display.close()


def plain(console: Console) -> str:
    """What has been drawn, without what steers the terminal."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", console.file.getvalue())


def test_the_picture_has_a_bar_the_counts_and_a_line_per_worker(console, live):
    live.update(VIEW)

    drawn = plain(console)
    assert "━" in drawn
    assert "11 done · 1 failed · 2,000 left" in drawn
    assert re.search(r"2 +job 4729 working 1 m 23 s +visit https://example.com/", drawn)
    assert "4 done, 1 failed" in drawn
    assert re.search(r"3 +idle +7 done", drawn)


def test_the_picture_says_which_slots_and_which_database_without_its_password(console, live):
    assert "2 workers, slots 2–3 of 4, on root@localhost:3306/nightshift" in plain(console)
    assert "hunter2" not in plain(console)


def test_the_time_to_go_comes_from_the_rate_of_the_last_minute(console, live):
    live.update(VIEW)
    live.update(replace(VIEW, seconds=11.0, done=111, left=1900))

    assert "10.0/s · about 3 m 10 s to go" in plain(console)


def test_trouble_is_in_the_headline(console, live):
    live.update(replace(VIEW, retried=3, waiting=40, is_stopping=True, database_away_seconds=75.0))

    drawn = plain(console)
    assert "3 retried · 2,000 left (40 waiting)" in drawn
    assert "stopping · DATABASE AWAY for 1 m 15 s" in drawn


def test_a_queue_that_was_not_counted_yet_is_drawn_too(console, live):
    live.update(replace(VIEW, left=None, workers=[]))

    assert "11 done · 1 failed · 0.0/s" in plain(console)


def test_the_time_to_go_leaves_out_what_waits_and_what_is_held_back(console, live):
    held = replace(VIEW, waiting=300, held_back=1500, held_because="example.com is left alone")
    live.update(held)
    live.update(replace(held, seconds=11.0, done=111))

    assert "2,000 left (300 waiting)" in plain(console)
    assert "1,500 held back: example.com is left alone · about 20 s to go" in plain(console)


def test_there_is_no_time_to_go_when_nothing_can_be_done_now(console, live):
    live.update(VIEW)
    live.update(replace(VIEW, seconds=11.0, done=111, held_back=1900, waiting=100))

    assert "to go" not in plain(console)


def test_what_a_task_prints_carries_its_workers_name_and_a_log_line_has_it_already(console, live):
    live.line("worker 2", "hello")
    live.line("worker 2", "12:00:00Z worker 2: job 5 failed")

    lines = [line.strip() for line in plain(console).splitlines()]
    assert "worker 2: hello" in lines
    assert "12:00:00Z worker 2: job 5 failed" in lines


@pytest.mark.parametrize("display", [PlainDisplay(), QuietDisplay()], ids=["plain", "quiet"])
def test_prints_are_named_without_a_terminal_too(display, capsys):
    display.line("worker 2", "hello")
    display.line("worker 2", "12:00:00Z worker 2: job 5 failed")

    assert capsys.readouterr().err == "worker 2: hello\n12:00:00Z worker 2: job 5 failed\n"


def test_a_message_takes_three_rows_at_most(console, live):
    live.line("worker 0", "x" * 5000)

    assert "x" * (3 * 160 - len("worker 0: ") - 1) + "…" in plain(console)
    assert "x" * (3 * 160) not in plain(console)


def test_many_lines_at_once_are_counted_and_not_shown(console, live, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("worker.cli.display.time.monotonic", lambda: now[0])
    for number in range(35):
        live.line("worker 1", f"stack line {number}")
    live.line("worker 2", "another's")
    live.line("worker 1", "12:00:00Z worker 1: job 5 failed")
    now[0] += 1.5
    live.update(VIEW)
    live.line("worker 1", "afterwards")

    drawn = plain(console)
    assert "stack line 9" in drawn
    assert "stack line 10" not in drawn
    assert "worker 1: … and 25 more lines" in drawn
    for line in ("another's", "job 5 failed", "afterwards"):
        assert line in drawn


def test_it_draws_four_times_a_second_at_most(console, live):
    live.update(VIEW)
    drawn = len(console.file.getvalue())
    live.update(replace(VIEW, seconds=1.1))

    assert len(console.file.getvalue()) == drawn


def test_drawing_starts_no_thread(console):
    before = set(threading.enumerate())
    display = LiveDisplay(console, SETTINGS)
    display.update(VIEW)
    during = set(threading.enumerate())
    display.close()

    assert during <= before


def test_markup_in_what_a_page_says_is_text_and_nothing_else(console, live):
    live.line("worker 0", "[bold]not bold[/bold] [link=x]")
    live.update(replace(VIEW, workers=[replace(BUSY, label="[red]x[/red]", step="[/]")]))

    assert "[bold]not bold[/bold] [link=x]" in plain(console)
    assert "[red]x[/red]  [/]" in plain(console)


def test_closing_shows_the_cursor_again(console):
    display = LiveDisplay(console, SETTINGS)
    display.update(VIEW)
    display.close()

    written = console.file.getvalue()
    assert written.rindex("\x1b[?25h") > written.rindex("\x1b[?25l")


def test_without_a_terminal_there_is_a_line_a_minute(capsys):
    display = PlainDisplay()
    for second in range(0, 130, 10):
        display.update(replace(VIEW, seconds=float(second)))

    told = capsys.readouterr()
    assert told.out == ""
    lines = told.err.splitlines()
    assert len(lines) == 2
    assert re.fullmatch(r"\d\d:\d\d:\d\dZ nightshift: 11 done · 1 failed · 2,000 left .*", lines[0])


def test_a_quiet_display_shows_nothing_of_what_goes_well(capsys):
    display = QuietDisplay()
    display.update(VIEW)
    display.say("SIGTERM: claiming nothing more")
    display.close()

    assert capsys.readouterr() == ("", "")


def test_the_display_fits_the_place(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(make_display(SETTINGS, quiet=True).shown, QuietDisplay)
    # Under pytest stderr is no terminal.
    assert isinstance(make_display(SETTINGS, quiet=False).shown, PlainDisplay)


@pytest.mark.parametrize("name", FORCED_BY)
def test_a_display_can_be_forced_without_a_terminal(monkeypatch, name):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(name, "1")

    display = make_display(SETTINGS, quiet=False)
    display.close()

    assert isinstance(display.shown, LiveDisplay)


def test_a_rate_is_of_the_last_minute_only():
    rate = Rate()

    assert rate.add(0.0, 0) == 0.0
    assert rate.add(10.0, 100) == 10.0
    assert rate.add(70.0, 100) == 0.0


def test_a_number_of_workers_that_can_change_is_shown(live, console):
    live.update(replace(VIEW, auto_workers=AutoNumber(5, 2, 8, 32)))

    assert "5 workers (auto, up to 32) · 11 done" in plain(console)
