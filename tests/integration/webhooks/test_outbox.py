"""The outbox: each event is taken by one, in order per job, and lost by none."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import closing

import pytest

from tests.conftest import because
from worker.database.client import Database
from worker.database.statements import query
from worker.webhooks import outbox

URL = "http://user:pass@receiver.example/hook?token=x"


@pytest.fixture
def finish(queue, claim_as):
    """Finish a new job, or one put back by hand, and so make an event."""

    def finish(job_id=None, url=URL, result=None):
        if job_id is None:
            job_id = queue.enqueue("noop", {}, callback_url=url, dedupe_key=None)
        claim = claim_as()
        assert claim is not None
        assert claim.job_id == job_id
        queue.complete(claim, result)
        return job_id

    return finish


@pytest.fixture
def put_back(database):
    def put_back(job_id):
        database.run_statement(
            "UPDATE work_queue SET status = 'pending' WHERE id = %(id)s", {"id": job_id}
        )

    return put_back


@pytest.fixture
def age(database):
    """Let the events wait for longer than they have."""

    def age(column, days):
        database.run_statement(
            f"UPDATE outbox SET {column} = {column} - INTERVAL {days} DAY"
            f" WHERE {column} IS NOT NULL"
        )

    return age


def take_all(db):
    found = [outbox.take(db, event) for event in outbox.due(db, limit=100)]
    return [event for event in found if event is not None]


def test_a_finish_with_a_callback_is_an_event(database, finish):
    assert not outbox.has_due(database)
    job = finish(result={"title": "Grüße"})

    assert outbox.has_due(database)
    (event,) = outbox.due(database, limit=10)
    assert (event.job_id, event.event, event.attempt, event.url) == (job, "job.done", 1, URL)
    assert (event.result, event.reason, event.deliveries) == ({"title": "Grüße"}, None, 0)
    assert 0 <= event.age_seconds < 60
    assert "pass" not in repr(event)


def test_an_error_with_a_callback_is_an_event_with_its_reason(database, queue, claim_as):
    queue.enqueue("noop", {}, callback_url=URL)
    queue.fail(claim_as(), because("no such page"))

    (event,) = outbox.due(database, limit=10)
    assert (event.event, event.result, event.reason) == ("job.error", None, "no such page")


def test_a_taken_event_is_nobody_elses_until_its_lease_ends(database, finish, age):
    finish()
    (read,) = outbox.due(database, limit=10)
    taken = outbox.take(database, read)

    assert taken is not None
    assert outbox.take(database, read) is None
    assert outbox.due(database, limit=10) == []
    assert not outbox.has_due(database)

    age("next_try_at", 1)
    (again,) = take_all(database)
    assert (again.event_id, again.deliveries) == (taken.event_id, 2)


def test_what_arrived_is_over_even_if_another_has_taken_it_since(database, finish, age):
    finish()
    (first,) = take_all(database)
    age("next_try_at", 1)
    (second,) = take_all(database)

    outbox.mark_delivered(database, first)
    outbox.mark_failed(database, second, "no answer")

    assert outbox.counts(database) == {"waiting": 0, "given_up": 0}
    assert outbox.undelivered(database, limit=10) == []


def test_who_lost_an_event_does_not_postpone_it(database, finish, age):
    finish()
    (first,) = take_all(database)
    age("next_try_at", 1)
    (second,) = take_all(database)

    outbox.mark_failed(database, first, "late", is_final=True)

    assert outbox.counts(database) == {"waiting": 1, "given_up": 0}
    outbox.mark_delivered(database, second)


def test_an_event_waits_for_the_earlier_one_of_its_job(database, finish, put_back):
    job = finish()
    put_back(job)
    finish(job)
    other = finish()

    (first, of_other) = take_all(database)
    assert [(first.job_id, first.attempt), (of_other.job_id, of_other.attempt)] == [
        (job, 1),
        (other, 1),
    ]
    outbox.mark_failed(database, first, "no answer")
    assert take_all(database) == []

    outbox.mark_delivered(database, first)
    (second,) = take_all(database)
    assert (second.job_id, second.attempt) == (job, 2)


def test_a_given_up_event_holds_up_no_later_one(database, finish, put_back):
    job = finish()
    put_back(job)
    finish(job)
    (first,) = take_all(database)

    assert outbox.mark_failed(database, first, "gone", is_final=True) is None

    assert outbox.counts(database) == {"waiting": 1, "given_up": 1}
    assert [event.attempt for event in take_all(database)] == [2]


def test_the_waits_grow_and_end_after_three_days(database, finish, age):
    finish()
    delays = []
    for _ in range(12):
        (event,) = take_all(database)
        delays.append(outbox.mark_failed(database, event, "no answer"))
        age("next_try_at", 1)

    assert 3 < delays[0] < 7
    assert 2600 < delays[-1] <= 4500
    age("happened_at", 4)
    (event,) = take_all(database)
    assert outbox.mark_failed(database, event, "no answer") is None
    assert outbox.counts(database) == {"waiting": 0, "given_up": 1}


def test_the_receiver_may_ask_for_a_longer_wait(database, finish):
    finish()
    (event,) = take_all(database)

    assert outbox.mark_failed(database, event, "answered 429", retry_after=7200) == 7200


def test_given_up_events_can_be_revived_for_another_three_days(database, finish, age):
    finish()
    age("happened_at", 5)
    (event,) = take_all(database)
    assert outbox.mark_failed(database, event, "no answer") is None

    assert outbox.revive(database) == 1

    (event,) = take_all(database)
    assert event.deliveries == 1
    assert outbox.mark_failed(database, event, "no answer") is not None


def test_the_old_events_of_a_silent_place_are_given_up_together(database, finish, age):
    for _ in range(3):
        finish()
    finish(url="http://other.example/hook")
    age("happened_at", 4)
    finish()

    assert outbox.give_up_old(database, outbox.place_of(URL), "no answer") == 3
    assert outbox.counts(database) == {"waiting": 2, "given_up": 3}


def test_places_can_be_left_out(database, finish):
    finish()
    finish(url="http://other.example/hook")

    left = outbox.due(database, limit=10, left_out=["http://user:pass@receiver.example"])
    assert [event.url for event in left] == ["http://other.example/hook"]


def test_what_arrived_long_ago_is_forgotten_and_nothing_else(database, finish, age):
    for _ in range(3):
        finish()
    first, second, third = take_all(database)
    outbox.mark_delivered(database, first)
    age("delivered_at", 8)
    outbox.mark_delivered(database, second)
    outbox.mark_failed(database, third, "gone", is_final=True)

    assert outbox.forget(database) is False

    rows = database.run_statement("SELECT job_id FROM outbox ORDER BY id")
    assert [row["job_id"] for row in rows] == [second.job_id, third.job_id]


def test_deliverers_at_once_take_every_event_once(database, settings, finish):
    for _ in range(40):
        finish()
    taken: list[int] = []
    start = threading.Barrier(4)

    def deliver():
        with closing(Database(settings)) as db:
            db.ping()
            start.wait()
            while found := outbox.due(db, limit=8):
                for event in found:
                    if outbox.take(db, event) is not None:
                        taken.append(event.id)
                        outbox.mark_delivered(db, event)

    threads = [threading.Thread(target=deliver) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)

    assert len(taken) == 40
    assert set(Counter(taken).values()) == {1}


def test_the_queries_of_the_outbox_use_its_index(database, finish):
    for name in ("has_due_events", "due_events"):
        rows = database.run_statement(f"EXPLAIN {query(name)}", {"limit": 10, "left_out": ("",)})
        # Of the servers' many ways to explain, each names the index it uses.
        assert "next_deliveries" in str(rows)
