"""A task that fails at a site does not close the site for the tasks that work there."""

from __future__ import annotations

import pytest

from tests.integration.gate_worker import SHOP, WHY, Worker, fail, trip
from tests.integration.guards.conftest import breaker, pass_time
from worker.guards import breakers
from worker.models import Cause, Claim, Ending, Outcome


def finish(worker: Worker, claim: Claim) -> None:
    worker.queue.complete(claim, {})
    worker.gate.tell(claim, Ending(Outcome.DONE))


def give_up(worker: Worker, claim: Claim) -> None:
    """Fail as a job does that blames its site; a canary is handed back, as the executor does."""
    if claim.canary is not None:
        fail(worker, claim)
        return
    ending = Ending(Outcome.ERROR, WHY["reason"], Cause.SITE)
    worker.queue.end(claim, ending)
    worker.gate.tell(claim, ending)


def test_thirty_broken_jobs_do_not_hold_up_three_hundred_good_ones_of_another_task(
    database, queue, worker
):
    queue.enqueue_many("extract", ({"url": SHOP} for _ in range(30)))
    queue.enqueue_many("visit", ({"url": SHOP} for _ in range(300)))

    while (claim := worker.claim_now()) is not None:
        finish(worker, claim) if claim.task == "visit" else give_up(worker, claim)

    assert queue.counts()["done"] == 300
    assert queue.counts()["error"] == 30, "the broken ones are explained, not held back"
    assert breaker(database)["state"] == "closed"


def test_thirty_broken_jobs_do_not_hold_up_three_hundred_good_ones_of_the_same_task(
    database, queue, worker
):
    queue.enqueue_many("extract", ({"url": SHOP, "selector": "#gone"} for _ in range(30)))
    queue.enqueue_many("extract", ({"url": SHOP} for _ in range(300)))

    waits = 0
    while queue.counts()["done"] < 300 and waits < 20:
        if (claim := worker.claim_now()) is None:
            waits += 1
            pass_time(database, beyond=1.0)
        elif "#gone" in claim.payload:
            give_up(worker, claim)
        else:
            finish(worker, claim)

    assert queue.counts()["done"] == 300
    assert waits <= 6


def test_a_site_that_fails_for_every_task_costs_one_job_of_each_other_task(database, queue, worker):
    for task in ("visit", "extract", "pdf"):
        queue.enqueue_many(task, ({"url": SHOP} for _ in range(10)))
    trip(worker)

    canaries = []
    while (claim := worker.claim_now()) is not None:
        canaries.append((claim.task, claim.canary))
        fail(worker, claim)

    assert canaries == [("extract", "site:shop.example"), ("pdf", "site:shop.example")]
    assert set(breaker(database)["failing"]) == {"visit", "extract", "pdf"}
    assert len({closed.reason for closed in worker.closures.closed.values()}) == 3
    wait = float(breaker(database)["wait_seconds"])
    assert wait == pytest.approx(breakers.COOLDOWN_SECONDS, abs=5), "that doubled nothing"


def test_when_the_time_is_over_each_task_has_a_canary_and_the_wait_is_doubled_once(
    database, queue, worker
):
    for task in ("visit", "extract"):
        queue.enqueue_many(task, ({"url": SHOP} for _ in range(10)))
    trip(worker)
    fail(worker, worker.claim_now())
    pass_time(database)

    tasks = []
    while (claim := worker.claim_now()) is not None:
        tasks.append(claim.task)
        fail(worker, claim)

    assert sorted(tasks) == ["extract", "visit"]
    wait = float(breaker(database)["wait_seconds"])
    assert wait == pytest.approx(2 * breakers.COOLDOWN_SECONDS, abs=5)


def test_a_success_of_another_task_closes_a_breaker(database, queue, worker):
    flying = queue.enqueue("extract", {"url": SHOP})
    claim = worker.claim_now()
    assert claim.job_id == flying
    queue.enqueue_many("visit", ({"url": SHOP} for _ in range(10)))
    trip(worker)
    assert worker.claim_now() is None

    finish(worker, claim)

    assert breaker(database)["state"] == "closed"
    assert worker.claim_now() is not None


def test_a_late_success_of_the_failing_task_closes_nothing(database, queue, worker):
    queue.enqueue_many("visit", ({"url": SHOP} for _ in range(10)))
    claim = worker.claim_now()
    trip(worker)
    worker.look_again()
    worker.closures.refresh()

    finish(worker, claim)

    assert breaker(database)["state"] == "open"


def test_a_success_writes_nothing_while_no_breaker_waits_for_one(queue, worker, monkeypatch):
    queue.enqueue_many("visit", ({"url": SHOP} for _ in range(3)))
    fail(worker, worker.claim_now())
    claim = worker.claim_now()
    monkeypatch.setattr(worker.gate.db, "transaction", lambda work: pytest.fail("it wrote"))
    monkeypatch.setattr(worker.gate.db, "execute", lambda name, **_: pytest.fail("it wrote"))

    worker.gate.tell(claim, Ending(Outcome.DONE))


def test_a_canary_of_another_task_that_tells_nothing_leaves_the_failing_ones_waiting(
    database, queue, worker
):
    queue.enqueue_many("visit", ({"url": SHOP} for _ in range(10)))
    queue.enqueue_many("extract", ({"url": SHOP} for _ in range(3)))
    trip(worker)
    useless = worker.claim_now()
    assert useless.task == "extract"

    fail(worker, useless, blames_site=False)

    wait = float(breaker(database)["wait_seconds"])
    assert wait == pytest.approx(breakers.COOLDOWN_SECONDS, abs=5)
    assert worker.claim_now().task == "extract"


def test_a_breaker_opened_by_hand_holds_back_every_task(database, queue, worker):
    for task in ("visit", "visit", "extract"):
        queue.enqueue(task, {"url": SHOP})
    flying = worker.claim_now()
    breakers.open_by_hand(database, "site:shop.example", 60, "their sale", "me")

    assert worker.claim_now() is None
    fail(worker, flying)
    assert worker.claim_now() is None
