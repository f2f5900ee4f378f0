"""What one job's context is made with: its run's wishes, its task's and its own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from worker.errors import Fail, PageRefused, PayloadError
from worker.evidence import known_secrets
from worker.execution.job_wishes import JobWishes
from worker.models import Candidate
from worker.tasks.registry import Registry, Task
from worker.tasks.wishes import NONE, Declared


def a_task(name: str = "price", **options: Any) -> Task:
    return Task(name, lambda page, payload, job: None, **options)


def wishing(**context: Any) -> Task:
    return a_task(wishes=Declared(context))


def candidate(task: str = "price", payload: Any = None, **more: Any) -> Candidate:
    return Candidate(
        job_id=1, version="", fence=0, attempts=0, max_attempts=None, task=task,
        payload=json.dumps(payload or {}), timeout_seconds=None, was_done=False, **more,
    )  # fmt: skip


def test_the_three_are_put_together():
    run = JobWishes(Declared({"locale": "de-DE", "offline": True}, ("font",)))
    payload = {"manifest": {"context": {"locale": "it-IT"}, "block": ["media"]}}
    found = run.of(wishing(offline=False, color_scheme="dark"), payload)

    assert found.options == {"locale": "it-IT", "offline": False, "color_scheme": "dark"}
    assert found.block == ("font", "media")


def test_a_task_without_wishes_costs_nothing_twice():
    run = JobWishes()
    plain = a_task()

    assert run.of(plain, {"url": "x"}) == NONE
    assert run.of(plain, {"url": "y"}) is run.of(plain, {})
    assert run.of(plain, {"manifest": {"context": {"locale": "de-DE"}}}) != NONE
    assert run.of(plain, {}) == NONE


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"context": {"viewprt": 1}}, "manifest.context: unknown option viewprt"),
        ({"context": {"device": "iPhone15"}}, "manifest.context: device: Playwright knows no"),
        ({"context": {"base_url": "https://x.example"}}, "not for a single job"),
        ({"context": 5}, "manifest.context: give options by name"),
        ({"block": "image"}, "manifest.block: expected a list"),
        (5, "manifest must be an object"),
    ],
)
def test_what_a_job_may_not_wish_for_is_told(wanted, told):
    with pytest.raises(PayloadError, match=told):
        JobWishes().of(a_task(), {"manifest": wanted})


def test_a_secret_that_a_job_names_is_masked_from_then_on(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SHOP_TOKEN", "swordfish-and-chips")
    known_secrets.begin(None)
    headers = {"extra_http_headers": {"X-Shop": {"secret": "SHOP_TOKEN"}}}
    JobWishes().of(a_task(), {"manifest": {"context": headers}})

    assert known_secrets.mask("it said swordfish-and-chips") == "it said [redacted]"
    known_secrets.end()


def test_the_name_of_a_secret_is_none():
    headers = {"extra_http_headers": {"Authorization": {"secret": "SHOP_TOKEN"}}}
    known_secrets.begin(json.dumps({"manifest": {"context": headers}}))

    assert known_secrets.mask("there is no secret SHOP_TOKEN") == "there is no secret SHOP_TOKEN"
    known_secrets.end()


def test_a_header_that_a_task_holds_is_masked_for_each_of_its_jobs():
    run, task = JobWishes(), wishing(extra_http_headers={"Authorization": "swordfish-and-chips"})
    for _ in range(2):
        known_secrets.begin(None)
        run.of(task, {})
        assert known_secrets.mask("swordfish-and-chips") == "[redacted]"
        known_secrets.end()


def test_in_a_profile_its_face_wins_over_how_a_task_wishes_to_look():
    run = JobWishes(Declared({"locale": "de-DE", "base_url": "https://x.example"}, ("font",)))
    task = a_task(wishes=Declared({"device": "iPhone 15"}, ("image",)))
    found = run.of(task, {"manifest": {"block": ["media"]}}, profile="p1")

    assert found.options == {}
    assert found.block == ("image", "media")


def test_in_a_profile_what_is_no_look_is_refused_in_one_line():
    task = wishing(device="iPhone 15", storage_state="s.json", offline=True)
    with pytest.raises(PageRefused, match=r"task price wishes for offline, storage_state in its"):
        JobWishes().of(task, {}, profile="p1")
    with pytest.raises(PayloadError, match="the job runs in profile p1, whose face is its own"):
        JobWishes().of(a_task(), {"manifest": {"context": {"locale": "de"}}}, profile="p1")


def test_the_wishes_of_a_job_that_may_be_next_are_foreseen():
    tasks = Registry([wishing(locale="de-DE"), a_task("plain")])
    run = JobWishes()
    own = {"manifest": {"context": {"locale": "it-IT"}}}

    assert run.foreseen(candidate(), tasks) == run.of(tasks.get("price"), {})
    assert run.foreseen(candidate("plain"), tasks) == NONE
    found = run.foreseen(candidate(payload=own), tasks)
    assert found is not None
    assert found.options == {"locale": "it-IT"}


@pytest.mark.parametrize(
    "unknown",
    [
        None,
        candidate("strange"),
        candidate("shared"),
        candidate("pageless"),
        candidate(profile_id="p1"),
        candidate(payload={"manifest": {"context": {"viewprt": 1}}}),
        candidate("secretive"),
    ],
)
def test_of_others_nothing_is_foreseen_and_nothing_raised(unknown):
    headers = {"extra_http_headers": {"A": {"secret": "NO_SUCH_THING"}}}
    secretive = a_task("secretive", wishes=Declared(headers))
    shared, pageless = a_task("shared", isolation="page"), a_task("pageless", browser=False)
    tasks = Registry([wishing(locale="de"), shared, pageless, secretive])

    assert JobWishes().foreseen(unknown, tasks) is None
    with pytest.raises(Fail, match="there is no secret"):
        JobWishes().of(secretive, {})
