"""Failures that are one error share a fingerprint; different errors do not."""

from __future__ import annotations

import uuid

import pytest

from worker.errors import Fail
from worker.evidence.fingerprint import fingerprint, frames_of, normalise, project_frame
from worker.execution import task_call

LIBRARY = "/srv/.venv/lib/python3.11/site-packages/playwright/sync_api/_generated.py"
FRAMES = [("/srv/worker/runner.py", "run"), ("/srv/tasks/shop.py", "buy"), (LIBRARY, "click")]


def timeout(selector: str, milliseconds: int = 30000, url: str = "http://a.test/1") -> str:
    return (
        f"Locator.click: Timeout {milliseconds}ms exceeded.\nCall log:\n"
        f"  - navigating to {url}\n  - waiting for {selector}\n"
    )


def test_timeouts_that_differ_in_url_and_duration_are_one():
    keys = {
        fingerprint(
            "playwright._impl._errors.TimeoutError",
            f"Page.goto: Timeout {1000 + n}ms exceeded.\nCall log:\n"
            f'  - navigating to "http://shop{n}.test/item/{uuid.uuid4()}?p={n}"\n',
            "visit",
            FRAMES,
        )
        for n in range(214)
    }

    assert len(keys) == 1


def test_the_key_is_sixteen_hex_digits_and_the_label_is_readable():
    key, label = fingerprint("x.TimeoutError", timeout('locator("#buy")'), "shop", FRAMES)

    assert len(key) == 16
    assert int(key, 16) >= 0
    assert label == (
        'shop: TimeoutError Locator.click locator("#buy"): Timeout TIME exceeded. at shop.py:buy'
    )


def test_different_selectors_are_two():
    first = fingerprint("TimeoutError", timeout('locator("#buy")'), "shop", FRAMES)
    second = fingerprint("TimeoutError", timeout('locator("#pay")'), "shop", FRAMES)

    assert first[0] != second[0]


@pytest.mark.parametrize(
    ("one", "other", "are_same"),
    [
        ('locator("h1")', 'locator("h2")', False),
        ('locator("#row-7")', 'locator("#row-8")', True),
        ('locator("#item-4711")', 'locator("#item-12")', True),
        ('get_by_role("button", name="Buy")', 'get_by_role("button", name="Pay")', False),
        ('locator("#buy") to be visible', 'locator("#buy")', True),
    ],
)
def test_numbers_in_selectors_count_only_where_they_mean_something(one, other, are_same):
    keys = {fingerprint("E", timeout(selector), "shop", FRAMES)[0] for selector in (one, other)}

    assert (len(keys) == 1) is are_same


@pytest.mark.parametrize(
    "other",
    [
        ("ValueError", "a", "visit", FRAMES),
        ("KeyError", "b", "visit", FRAMES),
        ("KeyError", "a", "shop", FRAMES),
        ("KeyError", "a", "visit", FRAMES[:1]),
    ],
    ids=["class", "wording", "task", "frame"],
)
def test_what_makes_an_error_another_makes_another_key(other):
    assert fingerprint("KeyError", "a", "visit", FRAMES)[0] != fingerprint(*other)[0]


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("net::ERR_FAILED at http://h.test:81/x?y=1", "net::ERR_FAILED at URL"),
        (f"no order {uuid.UUID(int=7)} in 12 rows", "no order UUID in N rows"),
        ("waited 2.5s, then 30 seconds", "waited TIME, then TIME"),
        ("object at 0x7f5238653c50", "object at HEX"),
        ("HTTP 404 from http://h.test/7", "HTTP 404 from URL"),
        ("row4711, HTTP 1234, HTTP 5 of 6", "rowN, HTTP N, HTTP N of N"),
        ("feedface is a word, 'added' too", "feedface is a word, 'added' too"),
    ],
)
def test_what_differs_between_jobs_is_stripped(text, normal):
    assert normalise(text) == normal


def test_the_innermost_frame_outside_the_libraries_is_taken():
    assert project_frame(FRAMES) == "shop.py:buy"
    assert project_frame([]) == ""
    try:
        int("x")
    except ValueError as error:
        frames = frames_of(error)
    assert project_frame(frames).startswith("test_fingerprint.py:")


def test_what_calls_tasks_is_not_the_place_of_a_failure():
    with pytest.raises(Fail) as caught:
        task_call.as_json(object())

    assert project_frame(frames_of(caught.value)[1:]) == ""


def test_an_empty_message_still_has_a_fingerprint():
    assert fingerprint("KeyError", "", "visit")[1] == "visit: KeyError"


def test_a_label_has_a_bounded_length():
    assert len(fingerprint("E", "word " * 500, "visit", FRAMES)[1]) <= 240
