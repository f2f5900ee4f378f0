"""Settings: which values a run refuses."""

from __future__ import annotations

import pytest

from worker.database_settings import DatabaseSettings
from worker.errors import UsageError
from worker.settings import RunSettings


def run_with(**changes) -> RunSettings:
    return RunSettings(DatabaseSettings(), **changes)


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
    assert list(run_with(workers=6, total=18, offset=6).own_slots) == [6, 7, 8, 9, 10, 11]


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
