"""What holds on any members that all take writes: Galera nodes, primaries of a group."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import pytest

from tests.cluster.conftest import claim_on
from tests.conftest import QueueForTests
from tests.integration.gate_worker import Worker
from tests.lifecycle.conftest import run_command, url_of
from worker.database import migrations
from worker.database.client import Database
from worker.database.locks import Lock
from worker.guards import limits
from worker.models import Status
from worker.profiles.sole_check import sole_check

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.timeout(300),
    pytest.mark.parametrize("live", ["galera", "group-multi"], indirect=True),
]
# The second enqueue has the same keys in reversed order: each has what the other one waits for.
KEYS = 4_000


def test_a_claim_is_finished_on_another_member_at_once(world, on_member):
    claiming, finishing = on_member(0), on_member(1, patience_seconds=20)
    QueueForTests(claiming).enqueue_many("visit", [{}] * 50)

    for _ in range(50):
        claim = claim_on(claiming)
        assert QueueForTests(finishing).complete(claim, {}) is Status.DONE


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


def test_two_members_add_the_same_keys_in_reversed_order(world, on_member, tmp_path):
    lines = [json.dumps({"url": f"https://a.example/{n}", "sku": n}) for n in range(KEYS)]

    def enqueue(index: int) -> tuple[int, str, str]:
        path = tmp_path / f"{index}.jsonl"
        path.write_text("\n".join(lines[:: 1 - 2 * index]) + "\n")
        url = url_of(on_member(index).settings)
        done = run_command(tmp_path, "enqueue", path, "--dedupe={sku}", DATABASE_URL=url)
        return done.returncode, done.stdout, done.stderr

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(enqueue, range(2)))

    assert [(code, err) for code, _, err in found] == [(0, "")] * 2
    (row,) = on_member(2, patience_seconds=20).run_statement(
        "SELECT COUNT(*) AS jobs, COUNT(DISTINCT dedupe_key) AS names FROM work_queue"
    )
    assert row == {"jobs": KEYS, "names": KEYS}
