"""A settlement whose worker vanishes while the server works on it is whole, or it never was."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import closing

import pytest

from tests.conftest import QueueForTests, because
from worker.database.client import Database
from worker.errors import DatabaseUnavailable
from worker.queue.claims import Queue

ENDINGS = {
    "done": lambda queue, claim: queue.complete(claim, {"seen": 1}),
    "retry": lambda queue, claim: queue.retry(claim, because("again"), delay_seconds=None),
    "handed_back": lambda queue, claim: queue.hand_back(claim, because("stopped")),
}


@pytest.mark.parametrize("outcome", ENDINGS)
def test_a_settlement_has_its_history_although_its_worker_vanished_in_the_middle(
    settings, database, queue, claim_as, outcome
):
    job = queue.enqueue("visit", {})
    claim = claim_as()
    with closing(Database(settings)) as blocker, closing(Database(settings)) as worker:
        blocker.run_statement("BEGIN")
        blocker.run_statement(f"SELECT id FROM work_queue WHERE id = {job} FOR UPDATE")
        # A wait for the row that timed out would be tried again, by a worker that is to be gone.
        worker.run_statement("SET SESSION innodb_lock_wait_timeout = 60")
        settling = threading.Thread(target=settle, args=(QueueForTests(worker), claim, outcome))
        settling.start()
        wait_until(lambda: is_waiting(database, worker), "the settlement waits for the row")

        # As the kernel does for a process that was killed.
        worker._connection._sock.shutdown(socket.SHUT_RDWR)
        settling.join()
        blocker.run_statement("COMMIT")

        wait_until(lambda: queue.get(job)["status"] != "in_progress", "the server has gone on")
        assert [row["outcome"] for row in queue.history(job)] == [outcome]


def settle(queue: Queue, claim, outcome: str) -> None:
    with pytest.raises(DatabaseUnavailable):
        ENDINGS[outcome](queue, claim)


def is_waiting(database: Database, worker: Database) -> bool:
    rows = database.run_statement(
        "SELECT info FROM information_schema.processlist WHERE id = %(id)s",
        {"id": worker._connection.thread_id()},
    )
    return bool(rows) and "work_queue" in str(rows[0].popitem()[1])


def wait_until(condition, what: str, seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(0.01)
