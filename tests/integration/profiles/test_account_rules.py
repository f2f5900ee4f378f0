"""Rules of accounts: what is given is set, what is not stays, and nonsense changes nothing."""

from __future__ import annotations

import pytest

from worker.errors import UsageError
from worker.profiles import account_rules, store
from worker.profiles.account_rules import Change


@pytest.fixture
def set_rules(database):
    store.add_account(database, "a", by="me")
    return lambda **change: account_rules.describe(
        account_rules.set_rules(database, "a", Change(**change), by="me")
    )


def test_rules_are_changed_one_by_one(set_rules):
    assert (
        set_rules(is_ordered=True)
        == "one job after the other (if one fails, the others wait for you)"
    )
    assert set_rules(windows=("09:00-18:00", "mon 20:00-21:00"), timezone="Europe/Berlin") == (
        "one job after the other (if one fails, the others wait for you), "
        "from 09:00-18:00 and mon 20:00-21:00, "
        "in Europe/Berlin"
    )
    assert set_rules(closed_days=("2026-12-25",)).endswith("except 2026-12-25, in Europe/Berlin")
    assert set_rules(is_ordered=False).startswith("from 09:00-18:00 and mon")
    assert set_rules(is_always=True) == ""


def test_a_window_without_a_zone_is_one_of_utc(set_rules):
    assert set_rules(windows=("09:00-18:00",)) == "from 09:00-18:00, in UTC"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, "say what to set"),
        ({"windows": ("09:00-09:00",)}, "never opens"),
        ({"windows": ("09:00-18:00",), "timezone": "Europe/Berln"}, "unknown time zone"),
        ({"timezone": "Europe/Berlin"}, "give --window or --except too"),
        ({"on_failure": "skip"}, "give --ordered too"),
        ({"closed_days": ("tomorrow",)}, "is not a day"),
        ({"is_always": True, "windows": ("09:00-18:00",)}, "--always removes windows"),
    ],
)
def test_nonsense_is_refused_and_changes_nothing(database, set_rules, change, why):
    before = database.fetch_all("get_account", id="a")

    with pytest.raises(UsageError, match=why):
        set_rules(**change)

    assert database.fetch_all("get_account", id="a") == before


def test_an_unknown_account_is_named(database):
    with pytest.raises(UsageError, match="there is no account b"):
        account_rules.set_rules(database, "b", Change(is_ordered=True), by="me")
