"""What error.json says of the last good page is checked, cut, and told in words."""

from __future__ import annotations

from datetime import datetime

import pytest

from worker.evidence.last_good import MAX_TEXT, of_facts

AT = "2026-02-01T01:12:03Z"


def clock(moment: datetime) -> str:
    return f"{moment:%H:%M}"


def told(**comparison):
    found = {"job_id": 3310, "at": AT, "url": "https://shop.example.com/p/1"}
    if comparison:
        found["comparison"] = {"selector": ".price", "then": None, "now": None} | comparison
    return of_facts({"last_good": found})


def test_it_says_when_and_whose_it_was():
    assert told().headline(clock) == "last good at 01:12 (job 3310)"
    assert told().change(clock) == ""


@pytest.mark.parametrize(
    ("comparison", "text"),
    [
        (
            {"then": 1, "now": 0, "nearest": ".product-price"},
            "`.price` matched 1 element at 01:12, 0 now; nearest now: `.product-price`",
        ),
        ({"then": 1200, "now": 2}, "`.price` matched 1,200 elements at 01:12, 2 now"),
        ({"then": 0, "now": 0}, "`.price` matched 0 elements at 01:12, 0 now"),
        ({"now": 0}, "`.price` matches 0 now"),
        ({"then": 1}, "`.price` matched 1 element at 01:12"),
        ({}, ""),
    ],
)
def test_it_says_what_changed(comparison, text):
    assert told(selector=".price", **comparison).change(clock) == text


def test_a_zone_is_turned_into_utc():
    found = of_facts({"last_good": {"job_id": 1, "at": "2026-02-01T02:12:03+01:00"}})

    assert found.at == datetime.fromisoformat("2026-02-01T01:12:03")


@pytest.mark.parametrize(
    "odd",
    [
        None, "x", [], 1, {}, {"job_id": 1}, {"job_id": True, "at": AT}, {"job_id": -1, "at": AT},
        {"job_id": 2**63, "at": AT}, {"job_id": 1, "at": "yesterday"}, {"job_id": 1, "at": 5},
        {"job_id": 1, "at": "2026-02-01T01:12:03"},
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_not_told(odd):
    assert of_facts({"last_good": odd}) is None


def test_a_strangers_words_are_one_short_line():
    evil = "\x1b[2J\r\nnightshift: ok\u202e" + "x" * 10_000
    found = told(selector=evil, now="many", then=True, nearest=evil, nearest_text=evil)

    change = found.comparison
    assert (change.then, change.now) == (None, None)
    for text in (change.selector, change.nearest, change.nearest_text):
        assert len(text) <= MAX_TEXT
        assert text.isprintable()
