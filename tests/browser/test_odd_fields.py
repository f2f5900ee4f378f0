"""Fields and steps that cannot be meant: refused with their place, not done in another way."""

from __future__ import annotations

import time

import pytest

from worker.browser.session import BrowserSession
from worker.errors import Fail, PayloadError
from worker.execution.rehearsal import Rehearsal
from worker.tasks import registry

PAGE = "data:text/html,<b class=n>12,50</b><i class=n>sold out</i><u>{}</u>"


@pytest.fixture
def run(session: BrowserSession, tmp_path):
    rehearsal = Rehearsal(session, tmp_path, timeout_seconds=30.0)
    tasks = registry.load()

    def run(name, payload):
        try:
            return rehearsal.run(tasks.get(name), payload, job_id=7)
        finally:
            rehearsal.forget()

    return run


def extract(run, url=PAGE, **field):
    return run("extract", {"url": url, "fields": {"n": {"number": True, "timeout": 0.1, **field}}})[
        "n"
    ]


def test_a_number_that_is_none_fails_the_job_as_a_missing_field_does(run):
    with pytest.raises(Fail, match="field \"n\": 'sold out' is not a number"):
        extract(run, selector="i")
    with pytest.raises(Fail, match="'sold out' is not a number"):
        extract(run, selector=".n", all=True)


def test_an_optional_number_that_is_none_is_null(run):
    assert extract(run, selector="i", optional=True) is None
    assert extract(run, selector=".n", all=True, optional=True) == [12.5, None]


def test_a_number_too_large_for_any_is_none(run):
    with pytest.raises(Fail, match="is not a number"):
        extract(run, url=PAGE.format("9" * 400), selector="u")


@pytest.mark.parametrize("seconds", [1e99, 31, -1, 10**300])
def test_a_wait_that_cannot_be_is_refused_before_anything_is_done(run, seconds):
    steps = [{"goto": "data:text/html,<p>hello"}, {"wait": seconds}]

    with pytest.raises(PayloadError, match=r"payload.steps\[1\]: wait .* is not possible"):
        run("steps", {"steps": steps})


def test_a_wait_that_can_be_is_waited_for(run):
    began = time.monotonic()
    run("steps", {"steps": [{"wait": 0.5}, {"wait": 0}]})

    assert time.monotonic() - began >= 0.5
