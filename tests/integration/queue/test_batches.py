"""The end of a batch is told once, over many watchers, without a write per finished job."""

from __future__ import annotations

import json
import threading

import pytest

from worker.intake.added_jobs import row
from worker.models import Ending, Outcome
from worker.queue import batches
from worker.queue.batches import BatchWatch


@pytest.fixture
def open_batch(database, queue):
    """Add jobs to a batch, as `enqueue --batch` does."""

    def open_batch(name, jobs=1, callback=None, **columns):
        database.transaction(lambda tx: batches.add(tx, name, "me", callback))
        return [queue.enqueue("visit", {}, batch=name, **columns) for _ in range(jobs)]

    return open_batch


@pytest.fixture
def finish(queue, claim_as):
    def finish(jobs=1):
        for _ in range(jobs):
            queue.complete(claim_as(), {})

    return finish


def events(database):
    rows = database.run_statement("SELECT event, result, url FROM outbox ORDER BY id")
    return [(each["event"], json.loads(each["result"]), each["url"]) for each in rows]


def test_a_batch_is_told_of_when_its_last_job_is_finished(database, queue, open_batch, finish):
    open_batch("monday", 3, "https://e.org/hook")
    watch = BatchWatch(database)
    finish(2)
    assert watch.look() == []

    finish()

    assert watch.look() == ["monday"]
    assert watch.look() == []
    counts = {"batch": "monday", "done": 3, "failed": 0, "cancelled": 0}
    assert events(database) == [("batch.finished", counts, "https://e.org/hook")]


def test_of_many_watchers_one_tells(database, connect, open_batch, finish):
    names = [f"batch {number}" for number in range(5)]
    for name in names:
        open_batch(name, 2, "https://e.org/hook")
    watches = [BatchWatch(connect()) for _ in range(4)]
    for watch in watches:
        watch.look()
    finish(10)
    told: list[str] = []
    threads = [
        threading.Thread(target=lambda watch=watch: told.extend(watch.look(5.0)))
        for watch in watches
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(told) == names
    assert len(events(database)) == 5


def test_a_job_that_was_put_back_is_waited_for(database, queue, open_batch, finish, monkeypatch):
    monkeypatch.setattr(batches, "WINDOW", 2)
    first, *_ = open_batch("monday", 5)
    watch = BatchWatch(database)
    finish(4)
    watch.look()
    database.run_statement(f"UPDATE work_queue SET status = 'pending' WHERE id = {first}")
    queue.complete(_claim(database, queue, 5), {})

    assert watch.look(5.0) == []
    finish()
    assert watch.look(5.0) == ["monday"]


def _claim(database, queue, number):
    """Claim the last of some jobs: the others come before it."""
    from worker.claiming.candidates import Candidates
    from worker.models import Owner, Partition

    candidates, claim = Candidates(database, Partition(0, 1)), None
    found = []
    while (candidate := candidates.next()) is not None:
        found.append(candidate)
    claim = queue.take(Owner(0, 77), found[-1])
    assert claim is not None
    assert number
    return claim


def test_follow_ups_belong_to_the_batch(database, queue, claim_as, open_batch, finish):
    open_batch("crawl")
    watch = BatchWatch(database)
    queue.end(claim_as(), Ending(Outcome.DONE, result="1", follow_ups=(row("visit", {}),)))
    assert watch.look() == []

    finish()
    assert watch.look() == ["crawl"]
    (found,) = batches.recent(database)
    assert (found["done"], found["failed"]) == (2, 0)


def test_jobs_that_are_added_later_open_a_batch_again(database, open_batch, finish):
    open_batch("monday", callback="https://e.org/hook")
    watch = BatchWatch(database)
    finish()
    assert watch.look() == ["monday"]

    open_batch("monday")
    assert watch.look() == []
    finish()
    assert watch.look() == ["monday"]
    assert [result["done"] for _, result, _ in events(database)] == [1, 2]


def test_an_end_that_was_seen_before_something_was_added_is_not_told(database, open_batch, finish):
    open_batch("monday")
    finish()
    watch = BatchWatch(database)
    (opened,) = database.fetch_all("open_batches")
    walk = watch._walk_of(opened)
    open_batch("monday")

    assert not watch._tell(walk)
    assert watch.look() == []


def test_archived_and_cancelled_jobs_count(database, queue, open_batch, finish, put_away):
    first, second, third = open_batch("monday", 3)
    finish()
    put_away(first)
    database.run_statement(f"UPDATE work_queue SET status = 'error' WHERE id = {second}")
    assert put_away(third, statuses=("pending",)) == 1

    assert BatchWatch(database).look() == ["monday"]
    (found,) = batches.recent(database)
    assert (found["done"], found["failed"], found["cancelled"]) == (1, 1, 1)


def test_a_batch_that_is_named_in_plain_sql_is_told_of_too(database, queue, finish):
    queue.enqueue("visit", {}, batch="by hand")
    watch = BatchWatch(database, "https://e.org/usual")
    assert watch.look() == []

    finish()
    assert watch.look() == ["by hand"]
    assert events(database)[0][2] == "https://e.org/usual"


def test_the_progress_of_a_batch_is_counted(database, queue, open_batch, finish):
    open_batch("monday", 3)
    finish()

    assert batches.progress(database, "monday", 5.0) == {"unfinished": 2, "done": 1, "failed": 0}
