"""What a worker can say of a job before a browser is touched."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from worker.execution.preparation import Foresight
from worker.models import Candidate, Cause, Owner
from worker.queue.claims import Queue
from worker.tasks import registry
from worker.tasks.registry import Registry, task, task_of

JOB = Candidate(
    job_id=7,
    version="",
    fence=0,
    attempts=0,
    max_attempts=None,
    task="price",
    payload='{"sku": "a"}',
    timeout_seconds=None,
    was_done=False,
)


@dataclass
class Wanted:
    sku: str

    def __post_init__(self) -> None:
        if self.sku == "odd":
            raise RuntimeError("a bug of the author's")


@task("price")
def price(page, payload: Wanted, job):
    return None


@pytest.fixture
def foresee():
    """Says how a job ends before its task begins; None when it can begin."""
    loaded = registry.load()
    tasks = Registry([task_of(price), *(loaded.get(name) for name in loaded.names)])
    foresight = Foresight(tasks, Queue(None, max_attempts=4), Owner(0, 1))  # type: ignore[arg-type]

    def foresee(**changes):
        ending = foresight.ending_of(replace(JOB, **changes))
        return None if ending is None else (ending.reason, ending.cause)

    return foresee


def filling(name: str) -> dict[str, str]:
    step = f'{{"fill": {{"#password": {{"secret": "{name}"}}}}}}'
    return {"task": "steps", "payload": f'{{"steps": [{{"goto": "about:blank"}}, {step}]}}'}


def test_a_job_that_can_begin_is_not_judged(foresee, monkeypatch):
    monkeypatch.setenv("SHOP_PASSWORD", "correct horse battery")

    assert foresee() is None
    assert foresee(attempts=3) is None
    assert foresee(**filling("SHOP_PASSWORD")) is None


@pytest.mark.parametrize(
    ("changes", "said", "cause"),
    [
        (
            {"attempts": 4},
            "it has had its 4 attempts; to try again: launcher.py retry --id 7",
            None,
        ),
        ({"attempts": 1, "max_attempts": 1}, "it has had its 1 attempts;", None),
        ({"task": "pric"}, "no task named 'pric' is loaded", Cause.CODE),
        ({"payload": "[]"}, "the payload is a list, not an object", Cause.CODE),
        ({"payload": '{"sko": 1}'}, 'payload has the unknown field "sko"', Cause.CODE),
        (filling("NO_SUCH_SECRET"), "there is no secret NO_SUCH_SECRET", None),
    ],
)
def test_what_cannot_begin_ends_in_the_words_of_a_job_that_did(foresee, changes, said, cause):
    reason, blamed = foresee(**changes)

    assert reason.startswith(said)
    assert blamed is cause


def test_attempts_that_do_not_count_are_no_reason(foresee):
    assert foresee(attempts=9, blocks=3, crashes=2, forgiven=1) is None


def test_a_bug_in_a_tasks_own_shape_shows_when_the_job_is_run(foresee):
    assert foresee(payload='{"sku": "odd"}') is None
