"""What holds on three real Galera nodes that all take writes."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest

from tests.cluster.conftest import claim_on
from tests.conftest import QueueForTests
from worker.database import server_kind, server_probe
from worker.database.client import Database
from worker.errors import DatabaseUnavailable
from worker.models import Status

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.timeout(300),
    pytest.mark.parametrize("live", ["galera"], indirect=True),
]


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
