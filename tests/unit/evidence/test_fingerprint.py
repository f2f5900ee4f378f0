"""Failures that are one error share a fingerprint; different errors do not."""

from __future__ import annotations

import importlib.util
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from worker.browser.watchdog import Watchdog
from worker.errors import Fail
from worker.evidence import fingerprint as fingerprint_module
from worker.evidence.fingerprint import fingerprint, frames_of, normalise, project_frame
from worker.execution import executor, task_call
from worker.tasks.job import Job
from worker.tasks.params import fit
from worker.tasks.registry import Registry, Task

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
        ("HTTP 500 from http://h.test/?token=[redacted]&x=1", "HTTP 500 from URL"),
        ("HTTP 500 from http://[redacted]@h.test/3", "HTTP 500 from URL"),
        ("net::ERR at http://$(id)/p1", "net::ERR at URL"),
        ("(http://[::1]:8080/x)", "(URL)"),
        ("[see http://h.test/a], <http://h.test/b>", "[see URL], <URL>"),
        ("http://h.test/a(b/7 twice", "URL twice"),
        ("row4711, HTTP 1234, HTTP 5 of 6", "rowN, HTTP N, HTTP N of N"),
        ("feedface is a word, so is added", "feedface is a word, so is added"),
        ("the site's answer isn't one", "the site's answer isn't one"),
    ],
)
def test_what_differs_between_jobs_is_stripped(text, normal):
    assert normalise(text) == normal


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("KeyError", "'sku-4711'", "'sku-9 b'"),
        ("KeyError", "'DE'", "'FR'"),
        ("ValueError", 'no such product "A-17"', 'no such product "B"'),
        ("ValueError", "no such product «Bleu»", "no such product «Rouge»"),
        ("ValueError", "no such product “A”", "no such product „B“"),
        ("ValueError", "no such product 'Men's shirt'", "no such product 'Hat'"),
        ("ValueError", r"no such product 'it\'s'", "no such product 'Hat'"),
        ("ValueError", "invalid literal for int() with base 10: '12a'",
         "invalid literal for int() with base 10: ''"),
        ("FileNotFoundError", "[Errno 2] No such file or directory: '/tmp/a'",
         "[Errno 2] No such file or directory: '/tmp/b'"),
        ("PayloadError", "payload.price: expected a number, got 'cheap'",
         "payload.price: expected a number, got 'dear'"),
        ("Error", 'Page.evaluate: Error: no stock of "A"', 'Page.evaluate: Error: no stock of "B"'),
    ],
)  # fmt: skip
def test_quoted_values_do_not_split_one_error(kind, one, other):
    keys = {fingerprint(kind, message, "shop", FRAMES)[0] for message in (one, other)}

    assert len(keys) == 1


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("Fail", "HTTP 404 for 'A'", "HTTP 500 for 'A'"),
        ("KeyError", "'price'", "'title'"),
        ("KeyError", "'price'", "'sku-4711'"),
        ("PayloadError", 'payload lacks "url" (a text)', 'payload lacks "price" (a text)'),
        ("PayloadError", "payload.url: expected a text, got 5",
         "payload.price: expected a text, got 5"),
        ("AttributeError", "'NoneType' object has no attribute 'text'",
         "'NoneType' object has no attribute 'click'"),
        ("TypeError", "buy() got an unexpected keyword argument 'a'",
         "buy() got an unexpected keyword argument 'b'"),
        ("NameError", "name 'total' is not defined", "name 'price' is not defined"),
        ("Error", "Page.evaluate: TypeError: Cannot read properties of null (reading 'a')",
         "Page.evaluate: TypeError: Cannot read properties of null (reading 'b')"),
        ("Error", 'Locator.click: Error: strict mode violation: locator("#buy") resolved to 2',
         'Locator.click: Error: strict mode violation: locator("#pay") resolved to 2'),
        ("Error", 'Page.click: Unexpected token while parsing css selector "#a["',
         'Page.click: Unexpected token while parsing css selector "#b["'),
        ("ValueError", "no such product 'A'", "no such order 'A'"),
    ],
)  # fmt: skip
def test_what_is_quoted_but_means_another_error_stays_apart(kind, one, other):
    keys = {fingerprint(kind, message, "shop", FRAMES)[0] for message in (one, other)}

    assert len(keys) == 2


def test_a_long_line_of_quotes_is_stripped_quickly():
    began = time.monotonic()
    fingerprint("E", r"\'" * 100_000, "shop")
    fingerprint("E", "'a" * 100_000, "shop")

    assert time.monotonic() - began < 1


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


def a_failing_task() -> Task:
    namespace: dict[str, Any] = {}
    source = """
def buy(page, payload, job):
    raise ValueError("order 4711 of http://shop.test/1 is not open")
"""
    exec(compile(source, "/srv/tasks/shop.py", "exec"), namespace)  # noqa: S102
    return Task(name="shop", function=namespace["buy"], browser=False)


def run_a_failing_task() -> None:
    session = SimpleNamespace(
        page=None,
        recorder=None,
        guards=SimpleNamespace(explain=lambda problem, recorder: None),
        limit=lambda seconds: Watchdog().limit(seconds, lambda: None),
    )
    job = Job(1, 1, 4, "shop", time.monotonic() + 60, Path("/nowhere"))
    task_call.run_task(session, a_failing_task(), {}, job)


@pytest.mark.parametrize(
    "package", ["srv/checkout/worker", "srv/.venv/lib/python3.11/site-packages/nightshift/_worker"]
)
def test_a_failure_has_the_same_place_in_a_checkout_and_in_a_wheel(package, tmp_path):
    """The module as it stands in either: where it is tells it which frames are ours."""
    own = tmp_path / package
    here = own / "evidence" / "fingerprint.py"
    here.parent.mkdir(parents=True)
    here.write_bytes(Path(fingerprint_module.__file__).read_bytes())
    spec = importlib.util.spec_from_file_location("fingerprint_elsewhere", here)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def place(*frames: tuple[str, str]) -> str:
        guarded = [(str(own / "browser/page_guard.py"), "goto"), (LIBRARY, "goto")]
        called = (str(own / "execution/task_call.py"), "run_task")
        return module.project_frame([called, *frames, *guarded])

    assert place(("/srv/tasks/shop.py", "buy")) == "shop.py:buy"
    assert place((str(own / "tasks/visit.py"), "visit")) == "visit.py:visit"
    assert place() == ""


@dataclass
class Order:
    url: str


@pytest.mark.parametrize(
    ("fail", "golden"),
    [
        (run_a_failing_task, "a180bc0d9ae64c5c"),
        (lambda: task_call.as_json(object()), "245235881bf029b5"),
        (lambda: Registry({}).get("nope"), "862af711c38ae822"),
        (lambda: fit({}, Order), "62717933f8ad9d2c"),
    ],
    ids=["in a task", "around a task", "no such task", "payload"],
)
def test_a_move_of_files_does_not_change_a_group(fail, golden):
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the fingerprint tells them apart.
        fail()
    error = caught.value
    # The first two frames are this test's.
    frames = frames_of(error)[2:]

    assert fingerprint(type(error).__name__, str(error), "shop", frames)[0] == golden


def test_a_job_that_the_pool_gives_up_keeps_its_group():
    message = "it has had its 4 attempts; to try again: launcher.py retry --id 17"
    frames = [(executor.__file__, "_attempt")]

    assert fingerprint("Fail", message, "shop", frames)[0] == "0ebed1ba3b92b925"


def test_an_empty_message_still_has_a_fingerprint():
    assert fingerprint("KeyError", "", "visit")[1] == "visit: KeyError"


def test_a_label_has_a_bounded_length():
    assert len(fingerprint("E", "word " * 500, "visit", FRAMES)[1]) <= 240
