"""Settings: durations, .env, and which values a run refuses."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime

import pytest

from worker.database_settings import DatabaseSettings
from worker.errors import SettingsError, UsageError
from worker.settings import RunSettings, load_dotenv, parse_duration, seconds_until


def run_with(**changes) -> RunSettings:
    return RunSettings(DatabaseSettings(), **changes)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("600", 600),
        ("90s", 90),
        ("10m", 600),
        ("6h", 21_600),
        ("30d", 2_592_000),
        ("250ms", 0.25),
        ("1.5m", 90),
        (" 5 S ", 5),
        ("0", 0),
    ],
)
def test_a_duration_is_read_as_seconds(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "m", "ten", "-5", "5w", "1h30m", "1,5s", "nan", "inf"])
def test_what_is_no_duration_is_refused_with_an_example(text):
    with pytest.raises(ValueError, match="write 600, 90s, 10m, 6h or 30d"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("KEY=value", "value"),
        ("  export KEY = value  ", "value"),
        ("KEY='two words # and a hash'", "two words # and a hash"),
        ('KEY="a=b"', "a=b"),
        ("KEY=value  # a comment", "value"),
        ('KEY="two words"  # a comment', "two words"),
        ("KEY=a#b", "a#b"),
        ("KEY=", ""),
        ("KEY='", "'"),
        ("\n# a comment\n\nKEY=ü", "ü"),
    ],
)
def test_a_line_of_dotenv_is_read_as_a_person_means_it(tmp_path, line, value):
    path, environ = tmp_path / ".env", {}
    path.write_text(line + "\n", encoding="utf-8")
    load_dotenv(path, environ)
    assert environ == {"KEY": value}


def test_the_environment_wins_over_dotenv(tmp_path):
    path, environ = tmp_path / ".env", {"DATABASE_URL": "mysql://there/a", "EMPTY": ""}
    path.write_text("DATABASE_URL=mysql://here/b\nEMPTY=full\nOTHER=1\n")
    load_dotenv(path, environ)
    assert environ == {"DATABASE_URL": "mysql://there/a", "EMPTY": "", "OTHER": "1"}


def test_a_missing_dotenv_is_no_error(tmp_path):
    environ = {}
    load_dotenv(tmp_path / ".env", environ)
    assert environ == {}


@pytest.mark.parametrize("line", ["no equals sign", "2KEY=value", "=value", "TWO WORDS=value"])
def test_a_bad_line_of_dotenv_is_named_by_file_and_number(tmp_path, line):
    path = tmp_path / ".env"
    path.write_text(f"GOOD=1\n{line}\n")
    with pytest.raises(SettingsError, match=rf"{path}:2: expected KEY=value"):
        load_dotenv(path, {})


def test_a_dotenv_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(SettingsError, match=f"{tmp_path} cannot be read"):
        load_dotenv(tmp_path, {})
    path = tmp_path / ".env"
    path.write_bytes(b"KEY=\xff\xfe\n")
    with pytest.raises(SettingsError, match=f"{path} cannot be read"):
        load_dotenv(path, {})


def test_no_text_of_the_settings_holds_the_password():
    settings = DatabaseSettings("owl", "secret", "db")
    assert "secret" not in f"{settings} {settings!r} {RunSettings(settings)!r}"
    assert str(settings) == "owl@db:3306/nightshift"


def test_without_a_total_the_slots_are_those_of_this_host():
    assert run_with(workers=3).total == 3


def test_a_callback_that_cannot_be_called_is_refused_without_repeating_it():
    with pytest.raises(UsageError, match="--callback-url: not a URL that can be called") as caught:
        run_with(callback_url="ftp://owl:hunter2@db/")
    assert "hunter2" not in str(caught.value)


def test_a_run_knows_the_slots_it_works_itself():
    assert list(run_with(workers=6, total=18, offset=6).slots) == [6, 7, 8, 9, 10, 11]


@pytest.mark.parametrize(
    ("changes", "flag"),
    [
        ({"workers": 0}, "--workers 0"),
        ({"workers": -1}, "--workers -1"),
        ({"total": 0}, "--total 0"),
        ({"offset": -1}, "--offset -1"),
        ({"workers": 6, "total": 18, "offset": 13}, "needs slots 13..18, but --total 18"),
        ({"workers": 3, "total": 2}, "raise --total or lower --offset"),
        ({"max_attempts": 0}, "--max-attempts 0"),
        ({"lease_seconds": 1}, "--lease 1"),
        ({"job_timeout_seconds": 0}, "--job-timeout 0"),
        ({"page_timeout_seconds": 0}, "--page-timeout 0"),
    ],
)
def test_a_wrong_value_is_refused_by_its_flag(changes, flag):
    with pytest.raises(UsageError, match=flag):
        run_with(**changes)


@pytest.mark.parametrize(
    ("field", "flag"),
    [
        ("breaker_cooldown_seconds", "--breaker-cooldown"),
        ("proxy_cooldown_seconds", "--proxy-cooldown"),
    ],
)
def test_a_cooldown_of_nothing_is_refused(field, flag):
    with pytest.raises(UsageError, match=f"{flag} 0 is too small; give more than 0"):
        run_with(**{field: 0.0})


HOUR = 3600.0


@pytest.fixture(autouse=True)
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Local time with a spring and an autumn, whatever this machine keeps."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
        time.tzset()
        yield
    time.tzset()


def local(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone()


@pytest.mark.parametrize(
    ("clock", "now", "hours"),
    [
        ("06:00", "2026-01-12T22:00", 8),
        ("6:00", "2026-01-12T05:30", 0.5),
        ("06:00", "2026-01-12T06:00", 24),
        ("00:00", "2026-12-31T23:45", 0.25),
        ("23:59", "2026-01-12T23:58:30", 1 / 120),
    ],
)
def test_it_is_as_long_as_the_clock_says(clock, now, hours):
    assert seconds_until(clock, local(now)) == pytest.approx(hours * HOUR)


@pytest.mark.parametrize(("evening", "hours"), [("2026-03-28T22:00", 7), ("2026-10-24T22:00", 9)])
def test_the_night_in_which_the_clock_is_changed_is_shorter_or_longer(evening, hours):
    assert seconds_until("06:00", local(evening)) == hours * HOUR


@pytest.mark.parametrize("clock", ["", "6", "24:00", "06:60", "06:00:00", "6am", "-1:00", "0600"])
def test_what_is_no_time_of_day_is_wrong_usage(clock):
    with pytest.raises(UsageError, match="is not a time of day; write it as 06:00") as refused:
        seconds_until(clock, local("2026-01-12T22:00"))
    assert refused.value.exit_code == 2
