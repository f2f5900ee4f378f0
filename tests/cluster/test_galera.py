"""What holds on three real Galera nodes that all take writes."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import pytest

from tests.conftest import QueueForTests
from tests.integration.gate_worker import Worker
from worker.claiming.candidates import Candidates
from worker.database import migrations, server_kind, server_probe
from worker.database.client import Database
from worker.database.locks import Lock
from worker.errors import DatabaseUnavailable
from worker.guards import limits
from worker.models import Owner, Partition, Status
from worker.profiles.sole_check import sole_check

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.timeout(300),
    pytest.mark.parametrize("live", ["galera"], indirect=True),
]


def claim_on(db: Database, incarnation: int = 1000):
    queue = QueueForTests(db)
    return queue.claim(Owner(0, incarnation), Candidates(db, Partition(0, 1)))


def test_a_claim_is_finished_on_another_member_at_once(world, on_member):
    claiming, finishing = on_member(0), on_member(1, patience_seconds=20)
    QueueForTests(claiming).enqueue_many("visit", [{}] * 50)

    for _ in range(50):
        claim = claim_on(claiming)
        assert QueueForTests(finishing).complete(claim, {}) is Status.DONE


def test_a_member_that_lags_is_waited_for(world, on_member):
    claiming, finishing = on_member(0), on_member(1, patience_seconds=20)
    QueueForTests(claiming).enqueue("visit", {})
    finishing.ping()
    world.cluster.members[1].ask("SET GLOBAL wsrep_slave_threads = 1", "SET GLOBAL wsrep_desync=1")
    with locked_tables(world.cluster.members[1]):
        claim = claim_on(claiming)
        answers: list[Status] = []
        thread = threading.Thread(
            target=lambda: answers.append(QueueForTests(finishing).complete(claim, {}))
        )
        thread.start()
        time.sleep(1.0)
        assert answers == [], "it has neither finished nor lost the claim"
    thread.join(30)
    world.cluster.members[1].ask("SET GLOBAL wsrep_desync=0")
    assert answers == [Status.DONE]


class locked_tables:  # noqa: N801 - it reads as a block.
    """Keep a member from applying anything: a backup that holds the global read lock does."""

    def __init__(self, member) -> None:
        settings = replace(member.settings, database="")
        self._db = Database(settings, read_timeout_seconds=60)

    def __enter__(self) -> None:
        self._db.run_statement("FLUSH TABLES WITH READ LOCK")

    def __exit__(self, *_: object) -> None:
        self._db.run_statement("UNLOCK TABLES")
        self._db.close()


def test_two_members_admit_one_job_where_one_is_allowed(world, on_member):
    limits.set_limit(on_member(0), "global", concurrent=1, per_minute=None, by="test")
    QueueForTests(on_member(0)).enqueue_many("visit", [{"url": "http://a.example/"}] * 20)
    most = 0
    with (
        closing(Worker(on_member(0).settings)) as one,
        closing(Worker(on_member(1).settings)) as two,
    ):
        two.owner = replace(two.owner, incarnation=2000)
        for _ in range(10):
            with ThreadPoolExecutor(2) as pool:
                claims = [c for c in pool.map(Worker.claim_now, (one, two)) if c is not None]
            most = max(most, len(claims))
            for claim in claims:
                QueueForTests(on_member(2, patience_seconds=20)).complete(claim, {})
    assert most == 1


def test_locks_by_name_hold_on_all_members(world, on_member):
    first, second = Lock("run", "here"), Lock("run", "here")

    assert first.take(on_member(0))
    assert not second.take(on_member(1))
    first.release(on_member(2))
    assert second.take(on_member(1))


def test_one_member_at_a_time_checks_a_profile(world, on_member):
    with sole_check(on_member(0), "p1") as is_ours:
        assert is_ours
        with sole_check(on_member(1), "p1") as is_theirs:
            assert not is_theirs
    with sole_check(on_member(2), "p1") as is_theirs:
        assert is_theirs


def test_three_members_migrate_an_empty_database_at_once(world, on_member):
    world.cluster.members[0].ask("CREATE DATABASE migrated CHARACTER SET utf8mb4")

    def migrate(index: int) -> list[str]:
        settings = replace(on_member(index).settings, database="migrated")
        with closing(Database(settings, patience_seconds=30)) as db:
            return migrations.ensure(db)

    try:
        with ThreadPoolExecutor(3) as pool:
            made = list(pool.map(migrate, range(3)))
        assert sorted(map(bool, made)) == [False, False, True]
    finally:
        world.cluster.members[0].ask("DROP DATABASE migrated")


def beat_for(db: Database, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        db.execute("beat_run", run_id=0, pulse=None)
        time.sleep(0.2)


def test_a_member_that_was_cut_off_is_away_and_no_error_is_raw(world, on_member):
    db = on_member(0)
    world.cluster.network.cut(world.cluster.members[0].number)
    try:
        with pytest.raises(DatabaseUnavailable, match="cluster is not ready"):
            beat_for(db, seconds=30)
    finally:
        world.cluster.network.mend(world.cluster.members[0].number)
        world.cluster.heal()


def test_doctor_knows_galera_and_finds_nothing_wrong(world, on_member):
    kind = server_kind.recognise(on_member(0))

    assert str(kind).startswith("Galera (MariaDB ")
    assert "3 members, this one Synced" in str(kind)
    assert kind.id_step == 3
    assert server_probe.problems(world.database) == []
