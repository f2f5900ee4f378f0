"""A pool behind a pooler that keeps a client on its session, and gives that to others later."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from tests.lifecycle.conftest import run_command, wait_until
from tests.pooler import GREETING, Pooler
from worker.database import server_kind, server_probe
from worker.database.client import Database
from worker.database.locks import Lock
from worker.drill import finish_ledger


@pytest.fixture
def pooler(database, settings):
    with closing(Pooler(settings)) as pooler:
        yield pooler


@pytest.fixture
def pooled(pooler, settings):
    """The queue as it is reached through the pooler."""
    return replace(settings, unix_socket=None, host="127.0.0.1", port=pooler.port)


@pytest.fixture
def url(pooled):
    return f"mysql://root@127.0.0.1:{pooled.port}/{pooled.database}?ssl-mode=disabled"


def test_a_session_that_had_another_client_is_as_good_as_new(pooler, pooled):
    with closing(Database(pooled)) as before:
        assert Lock("run", "here").take(before)
        before.run_statement("SET time_zone = '+02:00'")
        (first,) = before.run_statement("SELECT CONNECTION_ID() AS id")
    wait_until(lambda: pooler._idle, "the session is free")

    with closing(Database(pooled)) as after:
        (second,) = after.run_statement("SELECT CONNECTION_ID() AS id, @@time_zone AS zone")
        assert second == {"id": first["id"], "zone": "+00:00"}
        assert Lock("run", "here").take(after)


def test_doctor_names_the_pooler_and_finds_nothing_wrong(pooled):
    with closing(Database(pooled)) as db:
        assert GREETING in str(server_kind.recognise(db))

    assert server_probe.problems(pooled) == []


def test_runs_finish_every_job_once_though_the_pooler_breaks_off(
    launch, database, queue, tasks, noted, let_go, pooler, url, tmp_path
):
    finish_ledger.install(database)
    path = tmp_path / "jobs.jsonl"
    path.write_text("".join(f'{{"sku": {number}}}\n' for number in range(120)))
    added = run_command(
        tmp_path, "enqueue", path, "--task=noop", "--dedupe={sku}", DATABASE_URL=url
    )
    assert added.returncode == 0, added.stderr
    held = queue.enqueue("held", {})

    run = launch("--workers", 3, "--tasks", tasks, "--json", DATABASE_URL=url)
    wait_until(lambda: noted("begun") and len(noted("finished")) >= 20, "they are at work")
    again = launch("--workers", 1, "--tasks", tasks, DATABASE_URL=url)
    assert again.wait() == 0
    assert "is at work on this database" in again.output
    pooler.drop_clients()
    let_go()

    assert run.wait(60) == 0, run.output
    jobs = [row["id"] for row in database.run_statement("SELECT id FROM work_queue")]
    assert run.summary["done"] == len(jobs) == 121
    assert finish_ledger.finishes(database) == dict.fromkeys(jobs, 1)
    assert queue.get(held)["attempts"] == 1
    assert pooler.sessions < pooler.clients
