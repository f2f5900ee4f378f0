"""Breakers: what fails is left alone, costs nothing meanwhile, and opens again by itself."""

from __future__ import annotations

from contextlib import closing

import pytest

from tests.integration.gate_worker import OTHER, SHOP, Worker, fail, failure, trip
from tests.integration.guards.conftest import breaker, pass_time
from worker.errors import UsageError
from worker.guards import breakers, canaries
from worker.models import Cause, Ending, Outcome


def test_a_breaker_opens_on_a_spike_and_leaves_other_sites_alone(database, queue, worker):
    ids = [queue.enqueue("visit", {"url": SHOP}) for _ in range(20)]
    trip(worker)
    other = queue.enqueue("visit", {"url": OTHER})

    claim = worker.claim_now()

    assert claim is not None
    assert claim.job_id == other
    assert worker.claim_now() is None
    assert all(queue.get(i)["attempts"] == 0 for i in ids)


def test_few_failures_among_many_successes_open_nothing(database, queue, worker):
    for _ in range(4 * breakers.SPIKE):
        queue.enqueue("visit", {"url": SHOP})
    for _ in range(breakers.SPIKE + 1):
        fail(worker, worker.claim_now())
        worker.queue.complete(worker.claim_now(), {})
        worker.queue.complete(worker.claim_now(), {})

    assert worker.claim_now() is not None


def test_failures_that_are_not_the_sites_fault_open_nothing(database, queue, worker):
    for _ in range(breakers.SPIKE + 2):
        queue.enqueue("visit", {"url": SHOP})
    for _ in range(breakers.SPIKE + 1):
        fail(worker, worker.claim_now(), blames_site=False)

    assert worker.claim_now() is not None


def test_one_canary_goes_out_when_the_time_is_over_and_its_success_closes_the_breaker(
    database, queue, worker
):
    for _ in range(10):
        queue.enqueue("visit", {"url": SHOP})
    trip(worker)
    pass_time(database)

    canary = worker.claim_now()

    assert canary is not None
    assert canary.canary == "site:shop.example"
    with closing(Worker(database.settings)) as second:
        assert second.claim() is None
    worker.queue.complete(canary, {})
    worker.gate.tell(canary, Ending(Outcome.DONE))
    assert breaker(database)["state"] == "closed"
    following = worker.claim_now()
    assert following is not None
    assert following.canary is None


def test_a_canary_that_fails_opens_the_breaker_for_longer(database, queue, worker):
    for _ in range(10):
        queue.enqueue("visit", {"url": SHOP})
    trip(worker)
    waits = []
    for _ in range(8):
        pass_time(database)
        fail(worker, worker.claim_now())
        assert worker.claim_now() is None
        waits.append(float(breaker(database)["wait_seconds"]))

    assert waits[0] == pytest.approx(2 * breakers.COOLDOWN_SECONDS, abs=5)
    assert waits[1] == pytest.approx(4 * breakers.COOLDOWN_SECONDS, abs=5)
    assert waits[-1] == pytest.approx(canaries.LONGEST_SECONDS, abs=5)


def test_one_answer_keeps_a_site_away_for_an_hour_at_most_and_its_job_for_longer(
    database, queue, worker
):
    for _ in range(10):
        queue.enqueue("visit", {"url": SHOP})
    month = 30 * 86400.0
    for _ in range(breakers.SPIKE):
        claim = worker.claim_now()
        ending = Ending(
            Outcome.BLOCKED, "blocked", Cause.SITE, delay_seconds=month, retry_after_seconds=month
        )
        worker.queue.end(claim, ending)
        worker.gate.tell(claim, ending)

    assert breaker(database)["state"] == "open"
    assert float(breaker(database)["wait_seconds"]) == pytest.approx(3600, abs=5)
    (row,) = database.run_statement(
        "SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), not_before) AS seconds FROM work_queue "
        "WHERE id = %(id)s",
        {"id": claim.job_id},
    )
    assert row["seconds"] == pytest.approx(month, abs=60)


def test_another_job_goes_out_after_a_canary_that_failed(database, queue, worker):
    for _ in range(10):
        queue.enqueue("visit", {"url": SHOP})
    trip(worker)
    pass_time(database)
    first = worker.claim_now()
    fail(worker, first)
    pass_time(database)

    second = worker.claim_now()

    assert second.canary is not None
    assert second.job_id != first.job_id
    assert queue.get(first.job_id)["attempts"] == 0


def test_a_site_that_fails_for_half_of_its_jobs_is_not_left_alone(database, queue, worker):
    for _ in range(5 * breakers.SPIKE):
        queue.enqueue("visit", {"url": SHOP})
    for _ in range(2 * breakers.SPIKE):
        fail(worker, worker.claim_now())
        worker.queue.complete(worker.claim_now(), {})

    assert worker.claim_now() is not None


def test_a_canary_that_never_comes_back_is_followed_by_another(database, queue, worker):
    for _ in range(10):
        queue.enqueue("visit", {"url": SHOP})
    trip(worker)
    pass_time(database)
    lost = worker.claim_now()
    assert worker.claim_now() is None
    pass_time(database)

    second = worker.claim_now()

    assert second is not None
    assert second.canary is not None
    assert second.job_id != lost.job_id
    worker.gate.tell(lost, failure("late news"))
    assert breaker(database)["state"] == "half_open"


def test_a_canary_that_tells_nothing_of_the_site_makes_way_for_another(database, queue, worker):
    for _ in range(10):
        queue.enqueue("visit", {"url": SHOP})
    trip(worker)
    pass_time(database)
    fail(worker, worker.claim_now(), blames_site=False)

    assert worker.claim_now() is not None


def test_a_breaker_obeys_the_operator(database, queue, worker):
    queue.enqueue("visit", {"url": SHOP})
    breakers.open_by_hand(database, "site:shop.example", None, "maintenance", "me")
    assert worker.claim_now() is None
    assert worker.closures.next_opening_seconds is None

    breakers.close_by_hand(database, "site:shop.example", keep=True, by="me")
    for _ in range(breakers.SPIKE + 2):
        fail(worker, worker.claim_now())
    assert worker.claim_now() is not None

    with pytest.raises(UsageError, match="has no breaker"):
        breakers.open_by_hand(database, "planet:mars", None, "", "me")
