"""What holds on a real MySQL group of three: with one primary, and with several."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from tests.cluster.conftest import claim_on
from tests.conftest import QueueForTests
from worker.database import server_kind, server_probe
from worker.database.client import Database
from worker.models import Status

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]
one_primary = pytest.mark.parametrize("live", ["group"], indirect=True)
several_primaries = pytest.mark.parametrize("live", ["group-multi"], indirect=True)


def drain_on(db: Database, incarnation: int) -> list[int]:
    """Claim and finish until nothing is left; return the jobs."""
    done = []
    while (claim := claim_on(db, incarnation)) is not None:
        assert QueueForTests(db).complete(claim, {}) is Status.DONE
        done.append(claim.job_id)
    return done


@one_primary
def test_a_primary_that_leaves_is_waited_for_and_its_claims_are_finished_on_the_next(world):
    with closing(Database(world.database, patience_seconds=60)) as db:
        QueueForTests(db).enqueue_many("visit", [{}] * 2)
        claim = claim_on(db)
        (former,) = world.cluster.primaries()
        world.cluster.leave(former)
        try:
            # The connection leads to a server that takes no writes any more, or is broken.
            assert QueueForTests(db).complete(claim, {}) is Status.DONE
            assert drain_on(db, 1001) != []
        finally:
            world.cluster.rejoin(former)
            world.cluster.heal()


@one_primary
def test_doctor_knows_a_group_and_finds_nothing_wrong(world):
    with closing(Database(world.database, patience_seconds=20)) as db:
        assert "one primary" in str(server_kind.recognise(db))

    assert server_probe.problems(world.database) == []


@several_primaries
def test_three_primaries_finish_every_job_once(world, on_member):
    QueueForTests(on_member(0)).enqueue_many("visit", [{}] * 150)

    with ThreadPoolExecutor(3) as pool:
        drained = pool.map(
            drain_on, [on_member(i, patience_seconds=20) for i in range(3)], (1001, 1002, 1003)
        )
        done = [job for jobs in drained for job in jobs]

    rows = on_member(0).run_statement("SELECT job_id FROM finish_ledger")
    assert len(done) == len(set(done)) == 150
    assert sorted(done) == sorted(row["job_id"] for row in rows if row["job_id"] in set(done))
