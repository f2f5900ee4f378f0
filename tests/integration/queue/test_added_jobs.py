"""Jobs that a job adds come exactly when it is done, and never twice."""

from __future__ import annotations

import json
import threading
import time

import pytest

from worker.errors import ClaimLost
from worker.intake.added_jobs import row
from worker.models import Ending, Outcome, Status
from worker.queue import added_jobs, journal
from worker.queue.claims import Queue


def done_with(*rows):
    return Ending(Outcome.DONE, result="null", follow_ups=rows)


@pytest.fixture
def added(database):
    """All jobs but the first, as the table has them."""

    def added():
        return database.run_statement(
            "SELECT id, task, payload, queue, priority, parent_id, root_id, depth, dedupe_key"
            " FROM work_queue WHERE parent_id IS NOT NULL ORDER BY id"
        )

    return added


def test_follow_ups_come_with_the_finish_and_know_their_chain(queue, claim_as, added):
    root = queue.enqueue("visit", {}, queue="slow", priority=3)
    queue.end(claim_as(), done_with(row("visit", {"n": 1}), row("price", {}, priority=9)))
    first, second = added()
    assert (first["parent_id"], first["root_id"], first["depth"]) == (root, root, 1)
    assert (first["queue"], first["priority"], second["priority"]) == ("slow", 3, 9)

    queue.end(claim_as(), done_with(row("visit", {"n": 2}, queue="fast")))

    third = added()[2]
    assert (third["parent_id"], third["root_id"], third["depth"]) == (first["id"], root, 2)
    assert (third["queue"], json.loads(third["payload"])) == ("fast", {"n": 2})


def test_nothing_is_added_when_the_claim_was_lost(queue, stale_and_current, added):
    stale, current = stale_and_current

    with pytest.raises(ClaimLost):
        queue.end(stale, done_with(row("visit", {})))

    assert added() == []
    assert queue.end(current, done_with(row("visit", {}))).status is Status.DONE
    assert len(added()) == 1


def test_a_finish_whose_answer_was_lost_adds_nothing_twice(
    database, queue, claim_as, added, lose_the_next_answer
):
    queue.enqueue("visit", {})
    claim = claim_as()
    lose_the_next_answer(database)

    with database.patience(5):
        assert queue.end(claim, done_with(row("visit", {}))).status is Status.DONE

    assert len(added()) == 1


def test_a_job_that_fails_adds_nothing(queue, claim_as, added):
    queue.enqueue("visit", {}, max_attempts=1)

    queue.end(claim_as(), Ending(Outcome.ERROR, "no", follow_ups=(row("visit", {}),)))

    assert added() == []


def test_the_journal_keeps_the_follow_ups_of_an_outcome(queue, claim_as, added, tmp_path):
    queue.enqueue("visit", {})
    claim = claim_as()
    rows = row("visit", {"url": "https://e.org/ä"}, depth=7), row("visit", {"n": 2})
    journal.write(tmp_path, 7, claim, done_with(*rows))

    ((_, entry),) = journal.read(tmp_path)
    assert journal.replay(queue, entry) is Status.DONE

    assert [each["depth"] for each in added()] == [7, 1]
    assert json.loads(added()[0]["payload"]) == {"url": "https://e.org/ä"}
    journal.write(tmp_path, 7, claim, done_with(*rows))
    ((_, entry),) = journal.read(tmp_path)
    assert journal.replay(queue, entry) is Status.DONE
    assert len(added()) == 2


def test_a_dedupe_key_that_is_taken_adds_nothing(queue, claim_as, added):
    queue.enqueue("visit", {}, dedupe_key="a")
    queue.end(
        claim_as(),
        done_with(*(row("visit", {}, dedupe_key=key) for key in ("a", "b", "b", "c"))),
    )

    assert [each["dedupe_key"] for each in added()] == ["b", "c"]


def test_workers_that_find_the_same_links_add_each_once(connect, queue, claim_as, added):
    claims = [claim_as() for _ in range(8) if queue.enqueue("visit", {})]
    keys = [f"https://e.org/{number}" for number in range(60)]

    def finish(claim, number):
        own = keys[number:] + keys[:number] if number % 2 else keys[::-1]
        rows = (row("visit", {"url": key}, dedupe_key=key) for key in own)
        Queue(connect(patience_seconds=30)).end(claim, done_with(*rows))

    threads = [
        threading.Thread(target=finish, args=(claim, 7 * number))
        for number, claim in enumerate(claims)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(each["dedupe_key"] for each in added()) == sorted(keys)
    assert queue.counts()["done"] == len(claims)


def test_a_thousand_follow_ups_take_less_than_a_second(queue, claim_as, added):
    queue.enqueue("visit", {})
    claim = claim_as()
    rows = [row("visit", {"url": f"https://e.org/{n}"}, dedupe_key=f"{n}") for n in range(1000)]

    began = time.monotonic()
    queue.end(claim, done_with(*rows))

    assert time.monotonic() - began < 1.0
    assert len(added()) == 1000


def test_the_news_of_a_finish_comes_with_its_follow_ups(database, queue, claim_as, added):
    queue.enqueue("visit", {}, callback_url="https://e.org/hook")

    queue.end(claim_as(), done_with(row("visit", {})))

    assert len(added()) == 1
    (event,) = database.run_statement("SELECT event FROM outbox")
    assert event["event"] == "job.done"


def test_what_a_job_has_added_is_found_also_in_the_archive(database, queue, claim_as, put_away):
    root = queue.enqueue("visit", {})
    queue.end(claim_as(), done_with(row("visit", {}), row("visit", {})))
    gone = claim_as()
    queue.complete(gone, {})
    put_away(gone.job_id)

    found = added_jobs.of_job(database, root)
    assert found.number == 2
    assert [each["status"] for each in found.first] == ["done", "pending"]
