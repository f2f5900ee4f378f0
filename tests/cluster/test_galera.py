"""What holds on three real Galera nodes that all take writes."""

from __future__ import annotations

import time

import pytest

from tests.cluster.conftest import claim_on
from tests.conftest import QueueForTests
from worker.database import server_kind, server_probe
from worker.database.client import Database
from worker.database_settings import DatabaseSettings
from worker.errors import DatabaseUnavailable
from worker.models import Status

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.timeout(300),
    pytest.mark.parametrize("live", ["galera"], indirect=True),
]


# A member finds each changed row of a table without a key by reading all of it: it applies these
# for seconds, and what was committed after them later still.
BALLAST_ROWS = 6_000
BALLAST = (
    "CREATE TABLE ballast (number INT, changed INT NOT NULL DEFAULT 0)",
    f"INSERT INTO ballast (number) SELECT seq FROM seq_1_to_{BALLAST_ROWS}",
)


@pytest.fixture
def lagging(world):
    """Have one member apply one thing after the other, and be busy with something slow."""
    first, other = world.cluster.members[:2]
    other.ask("SET GLOBAL wsrep_slave_threads = 1")
    name = DatabaseSettings().database
    first.ask(f"USE {name}", *BALLAST)
    world.cluster.heal()
    caught_up = ("SET SESSION wsrep_sync_wait = 1", f"USE {name}", "SELECT 1 FROM ballast LIMIT 1")
    other.ask(*caught_up)
    yield lambda: first.ask(f"USE {name}", "UPDATE ballast SET changed = 1")
    other.ask(*caught_up)
    first.ask(f"USE {name}", "DROP TABLE ballast")


def test_a_member_that_lags_is_waited_for(world, on_member, lagging, monkeypatch):
    claiming, finishing = on_member(0), on_member(1, patience_seconds=60)
    job_id = QueueForTests(claiming).enqueue("visit", {})
    finishing.ping()
    has_it = "SELECT status FROM work_queue WHERE id = %(id)s"
    caught_up = []
    monkeypatch.setattr(
        finishing, "catch_up", lambda: caught_up.append(1) or Database.catch_up(finishing)
    )
    lagging()
    claim = claim_on(claiming)
    assert claim is not None

    before = finishing.run_statement(has_it, {"id": job_id})
    answer = QueueForTests(finishing).complete(claim, {})

    assert before in ([], [{"status": "pending"}]), "this member did not lag at all"
    assert answer is Status.DONE
    assert caught_up


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
