"""One row that somebody holds keeps nothing else from being renewed, and no job from going on."""

from __future__ import annotations

import os
import time
from contextlib import closing

import pytest

from tests.integration.gate_worker import Worker
from worker.database.client import Database
from worker.database.locks import Lock
from worker.profiles import leases
from worker.queue import runs
from worker.queue.claims import Queue
from worker.recovery.sweep import sweep_leases
from worker.settings import RunSettings
from worker.supervisor.bookkeeping import Bookkeeping
from worker.supervisor.hung_workers import HungWorkers
from worker.supervisor.renewal import Renewal
from worker.system.board import Board

FIRST, SECOND = 1000, 1001
AN_HOUR_AGO = "UTC_TIMESTAMP(6) - INTERVAL 1 HOUR"


class RowLock(Lock):
    """A lock that is a row, as all are in a cluster."""

    def take(self, db: Database, wait_seconds: float = 0.0) -> bool:
        return self.take_row(db)


@pytest.fixture
def run(database):
    """A run with two workers, who have a profile each."""
    settings = RunSettings(database=database.settings, workers=2, total=2)
    return settings, runs.start_run(database, settings, os.getpid())


@pytest.fixture
def renewal(database, run, add, enqueue):
    settings, run_id = run
    board = Board(2)
    add("p1", "p2")
    enqueue("p1")
    enqueue("p2")
    for slot, entry in enumerate(board.entries):
        with closing(Worker(database.settings, slot, 2)) as worker:
            worker.look_again()
            claim = worker.claim()
        entry.clear()
        entry.incarnation = worker.owner.incarnation
        entry.begin_job(claim.job_id, claim.fence, 1, "visit", 60.0)
    # Impatient, as a heart's connection is.
    with closing(Database(database.settings, lock_wait_seconds=1)) as db:
        lock = RowLock("run", "here")
        assert lock.take(db)
        queue = Queue.of_run(db, settings)
        with db.passing_locks():
            yield Renewal(db, queue, board, Bookkeeping(db, board, run_id), (lock,))


@pytest.fixture
def hold(settings):
    """Hold rows in a transaction of somebody else's, until the test ends or lets go."""
    with closing(Database(settings)) as other:

        def hold(table: str, condition: str = "TRUE") -> Database:
            other.run_statement("BEGIN")
            other.run_statement(f"SELECT * FROM {table} WHERE {condition} FOR UPDATE")
            return other

        yield hold


@pytest.fixture
def age(database):
    """Let everything that is renewed have been renewed an hour ago."""
    database_age = {
        "work_queue": "lease_until",
        "profile_leases": "expires_at",
        "named_locks": "lease_until",
        "runs": "heartbeat_at",
    }

    def age() -> None:
        for table, column in database_age.items():
            database.run_statement(f"UPDATE {table} SET {column} = {AN_HOUR_AGO}")

    return age


def renewed(database, table: str, column: str) -> int:
    (row,) = database.run_statement(
        f"SELECT COUNT(*) AS n FROM {table} WHERE {column} > UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE"
    )
    return int(row["n"])


def all_renewed(database) -> dict[str, int]:
    return {
        "claims": renewed(database, "work_queue", "lease_until"),
        "leases": renewed(database, "profile_leases", "expires_at"),
        "locks": renewed(database, "named_locks", "lease_until"),
        "runs": renewed(database, "runs", "heartbeat_at"),
    }


ALL = {"claims": 2, "leases": 2, "locks": 1, "runs": 1}


def test_everything_that_a_run_holds_is_renewed(renewal, database, age):
    age()

    renewal.renew()

    assert all_renewed(database) == ALL


@pytest.mark.parametrize(
    ("table", "condition", "missing"),
    [
        ("work_queue", "profile_id = 'p1'", {"claims": 1}),
        ("profile_leases", "profile_id = 'p1'", {"leases": 1}),
        ("named_locks", "TRUE", {"locks": 0}),
        ("runs", "TRUE", {"runs": 0}),
    ],
)
def test_a_row_that_is_held_costs_only_its_own_renewal(
    table, condition, missing, renewal, database, run, age, hold
):
    age()
    began = time.monotonic()
    header = renewal.board.header
    header.renewed_at = began - run[0].lease_seconds
    hold(table, condition)

    renewal.renew()

    assert all_renewed(database) == ALL | missing
    assert header.renewed_at >= began
    assert not HungWorkers(run[0], header, []).is_lease_ending, "no job at work is killed for it"


def test_a_fellows_lease_on_the_same_profile_is_not_waited_for(database, add, enqueue, hold):
    add("p1", max_active_runs=2)
    for slot in range(2):
        enqueue("p1")
        with closing(Worker(database.settings, slot, 2)) as worker:
            worker.look_again()
            assert worker.claim() is not None
    hold("profile_leases", f"incarnation = {SECOND}")

    with closing(Database(database.settings, lock_wait_seconds=1)) as db:
        began = time.monotonic()
        assert leases.renew(db, [FIRST], 60.0) == 1

    assert time.monotonic() - began < 0.9


def test_a_lease_that_was_passed_over_while_its_run_beats_is_not_swept(
    renewal, database, run, hold
):
    for slot, incarnation in enumerate((FIRST, SECOND)):
        database.run_statement(
            "INSERT INTO workers (id, run_id, slot, pid, pid_started, started_at)"
            f" VALUES ({incarnation}, {run[1]}, {slot}, {os.getpid()}, 0, UTC_TIMESTAMP(6))"
        )
    database.run_statement(
        "UPDATE profile_leases SET heartbeat_at = UTC_TIMESTAMP(6) - INTERVAL 60 SECOND,"
        " expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND"
    )
    other = hold("profile_leases", "profile_id = 'p1'")

    renewal.renew()

    assert renewed(database, "profile_leases", "heartbeat_at") == 1
    other.run_statement("ROLLBACK")
    expired = database.fetch_all("expired_leases", limit=9, beat_seconds=30, locked_seconds=120)
    assert expired == []
    database.run_statement("UPDATE runs SET heartbeat_at = heartbeat_at - INTERVAL 31 SECOND")
    expired = database.fetch_all("expired_leases", limit=9, beat_seconds=30, locked_seconds=120)
    assert [row["profile_id"] for row in expired] == ["p1"]


def test_a_sweep_of_profiles_goes_round_a_row_that_is_held(renewal, database, age, hold):
    age()
    hold("profile_leases", "profile_id = 'p1'")

    assert [name for name, _ in sweep_leases(renewal.db)] == ["p2"]
