"""When a worker that finds nothing may go home: what it waits for, and what asking costs."""

from __future__ import annotations

import pytest

from worker.claiming.candidates import Candidates
from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.drain import Drain, outlook
from worker.guards import breakers, limits
from worker.models import Partition
from worker.profiles import store
from worker.profiles.store import NewProfile

WAIT_SECONDS = 900.0
HELD = {"url": "https://held.example/"}


@pytest.fixture
def drain_of(database):
    """A worker's view of the end, on a connection of its choice."""

    def drain_of(slot=0, total=1, *, db=database, help_others=True):
        partition, closures = Partition(slot, total), ClosedKeys(db)
        candidates = Candidates(db, partition, help_others=help_others, closures=closures)
        return Drain(
            db,
            partition,
            closures,
            candidates,
            help_others=help_others,
            wait_seconds=WAIT_SECONDS,
        )

    return drain_of


@pytest.fixture
def is_over(drain_of):
    return lambda *slot, **how: drain_of(*slot, **how).is_over()


def hold(database, key="site:held.example", seconds=None):
    breakers.open_by_hand(database, key, seconds, "held", "me")


def rows_read(db):
    rows = db.run_statement("SHOW SESSION STATUS LIKE 'Handler_read%'")
    return sum(int(row["Value"]) for row in rows)


def test_the_outlook_tells_what_is_still_to_come(database, queue, claim_as):
    assert outlook(database).next_due_seconds is None
    queue.enqueue("visit", {}, delay_seconds=100)
    queue.enqueue("visit", {})
    coming = outlook(database)
    assert (coming.has_ready, coming.has_in_progress) == (True, False)
    assert 90 < coming.next_due_seconds <= 100

    claim_as()
    coming = outlook(database)
    assert (coming.has_ready, coming.has_in_progress) == (False, True)
    own, other = outlook(database, Partition(0, 2)), outlook(database, Partition(1, 2))
    assert (own.has_in_progress, own.next_due_seconds) == (True, None)
    assert (other.has_in_progress, other.next_due_seconds is None) == (False, False)
    assert queue.unfinished() == {"pending": 1, "in_progress": 1, "waiting": 1}


def test_an_empty_queue_is_drained(is_over):
    assert is_over()


def test_a_job_in_progress_is_waited_for(queue, claim_as, is_over):
    queue.enqueue("visit", {})
    claim_as()

    assert not is_over()


@pytest.mark.parametrize(("seconds", "is_waited_for"), [(WAIT_SECONDS / 2, True), (5000, False)])
def test_a_job_that_comes_due_is_waited_for_if_it_is_in_time(
    queue, is_over, seconds, is_waited_for
):
    queue.enqueue("visit", {}, delay_seconds=seconds)

    assert is_over() is not is_waited_for


@pytest.mark.parametrize(
    ("seconds", "is_waited_for"), [(WAIT_SECONDS / 2, True), (5000, False), (None, False)]
)
def test_a_job_behind_a_breaker_is_waited_for_if_that_opens_in_time(
    database, queue, is_over, seconds, is_waited_for
):
    queue.enqueue("visit", HELD)
    hold(database, seconds=seconds)

    assert is_over() is not is_waited_for


def test_what_opens_for_others_only_is_not_waited_for(database, queue, is_over):
    store.add_account(database, "a1", by="me")
    store.pause_account(database, "a1", reason="till the call", by="me")
    store.add(database, [NewProfile("busy")], "me")
    store.check_out(database, "busy", person="me", seconds=60.0, reason="")
    queue.enqueue("visit", {}, account_id="a1")

    assert is_over()


def test_a_job_that_two_keys_hold_back_is_waited_for_if_both_open_in_time(database, queue, is_over):
    queue.enqueue("visit", HELD)
    hold(database, seconds=10.0)
    limits.set_limit(database, "task:visit", concurrent=0, per_minute=None, by="me")

    assert is_over()


def test_a_limit_of_nothing_at_all_ends_a_drain(database, queue, is_over):
    queue.enqueue("visit", {})
    limits.set_limit(database, "global", concurrent=0, per_minute=None, by="me")

    assert is_over()


def test_a_slice_that_helps_nobody_does_not_wait_for_others(database, queue, is_over):
    database.run_statement("INSERT INTO work_queue (id, payload) VALUES (-3, '{}')")

    assert is_over(0, 2, help_others=False)
    assert not is_over(1, 2, help_others=False)


def test_a_job_that_the_search_has_overlooked_is_found_then(database, queue, drain_of):
    queue.enqueue("visit", {})
    drain = drain_of()
    assert drain._candidates.next() is not None
    # It was handed out, and nothing has come of it: it lies behind the cursor.
    drain._candidates._allowance.spend(1000.0)
    assert not drain._candidates.has_next()

    assert not drain.is_over()

    assert drain._candidates.has_next()


@pytest.mark.parametrize("state", ["future", "held back for a while", "in progress"])
def test_asking_reads_a_few_rows_however_many_jobs_wait(
    database, connect, queue, claim_as, drain_of, state
):
    columns = "id, payload, not_before"
    due = "UTC_TIMESTAMP(6) + INTERVAL 60 SECOND" if state == "future" else "NULL"
    rows = ", ".join(
        f"""({number}, '{{"url": "https://held.example/"}}', {due})""" for number in range(1, 5000)
    )
    database.run_statement(f"INSERT INTO work_queue ({columns}) VALUES {rows}")
    if state == "in progress":
        claim_as()
    hold(database, seconds=60.0)
    db = connect()
    drain = drain_of(db=db)
    drain._closures.refresh()

    before = rows_read(db)
    assert not drain.is_over()

    assert rows_read(db) - before < 100


def test_asking_in_vain_is_not_repeated_before_it_has_been_rested_from(
    database, queue, drain_of, monkeypatch
):
    queue.enqueue("visit", {}, delay_seconds=60)
    drain = drain_of()
    monkeypatch.setattr("worker.claiming.drain.rest_seconds", lambda took: 1000.0)
    assert not drain.is_over()
    database.run_statement("DELETE FROM work_queue")

    assert not drain.is_over()
    drain._ask_at = 0.0
    assert drain.is_over()
