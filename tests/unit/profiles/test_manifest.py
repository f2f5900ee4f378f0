"""What a job wishes of its context is read, and refused where it could not have it."""

from __future__ import annotations

import pytest

from worker.errors import LaunchFailed, PayloadError
from worker.profiles import manifest
from worker.tasks import devices
from worker.tasks.wishes import NOTHING, Declared

GERMAN = {"context": {"locale": "de-DE"}, "block": ["Image"]}


def test_a_job_says_how_it_looks_and_what_it_does_not_load():
    found = manifest.check({"manifest": GERMAN})

    assert found.wishes == Declared({"locale": "de-DE"}, ("image",))
    assert manifest.wishes_of({"manifest": GERMAN}) == found.wishes
    assert manifest.wishes_in('{"manifest": {"block": ["image"]}}').block == ("image",)


def test_a_job_without_says_nothing():
    assert manifest.check({"url": "x"}).wishes is NOTHING
    assert manifest.wishes_of({"url": "x"}) is NOTHING
    assert manifest.wishes_of({"manifest": {"account": "a1"}}) is NOTHING
    assert manifest.wishes_in('{"url": "x"}') is NOTHING


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"context": {"viewprt": 1}}, "manifest.context: unknown option viewprt; did you mean"),
        ({"context": {"device": "iPhone15"}}, "manifest.context: device: Playwright knows no"),
        ({"context": {"storage_state": "s.json"}}, "a job may only name secrets"),
        ({"block": ["imge"]}, "manifest.block: 'imge' is neither"),
        ({**GERMAN, "profile": "p1"}, "the job runs in profile p1, whose face is its own"),
    ],
)
def test_what_it_cannot_have_is_refused(wanted, told):
    with pytest.raises(PayloadError, match=told):
        manifest.check({"manifest": wanted})


def test_a_profile_of_the_row_is_no_other():
    with pytest.raises(PayloadError, match="the job runs in profile p1"):
        manifest.check({"manifest": GERMAN}, profile="p1")


def test_a_temporary_job_of_a_profile_has_a_context_of_its_own():
    wanted = {**GERMAN, "profile": "p1", "temporary": True}

    assert manifest.check({"manifest": wanted}).wishes.context == {"locale": "de-DE"}
    in_profile = {"profile": "p1", "block": ["image"]}
    assert manifest.check({"manifest": in_profile}).wishes.block == ("image",)


def test_where_no_playwright_is_a_device_is_looked_up_later(monkeypatch: pytest.MonkeyPatch):
    def missing(name: str) -> str | None:
        raise LaunchFailed("run `make setup`")

    monkeypatch.setattr(devices, "problem_of", missing)

    assert manifest.check({"manifest": {"context": {"device": "?"}}}).wishes
