"""Profiles, jobs that want them, and two workers at the gate."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from tests.integration.gate_worker import Worker
from worker.claiming.closed_keys import ClosedKeys
from worker.guards.keys import ClosedKey
from worker.models import Claim
from worker.profiles import lease_endings, store
from worker.profiles.store import NewProfile


@pytest.fixture
def worker(database):
    with closing(Worker(database.settings)) as worker:
        yield worker


@pytest.fixture
def other(database):
    with closing(Worker(database.settings)) as worker:
        worker.owner = replace(worker.owner, incarnation=2000)
        yield worker


@pytest.fixture
def enqueue(queue, database):
    def enqueue(profile: str | None = None, account: str | None = None, **manifest: object) -> int:
        payload = {"url": "about:blank"} | ({"manifest": manifest} if manifest else {})
        job_id = queue.enqueue("visit", payload)
        database.run_statement(
            "UPDATE work_queue SET profile_id = %(p)s, account_id = %(a)s WHERE id = %(i)s",
            {"p": profile, "a": account, "i": job_id},
        )
        return job_id

    return enqueue


@pytest.fixture
def add(database):
    def add(*names: str, **fields: object) -> None:
        store.add(database, [NewProfile(name, **fields) for name in names], "me")  # type: ignore[arg-type]

    return add


def state(database, name: str = "p1") -> str:
    return str(store.get(database, name)["state"])


def finish(worker: Worker, claim: Claim, review: str | None = None) -> None:
    worker.queue.complete(claim, {})
    lease_endings.release(
        worker.db, claim.profile_id, claim.lease_fence, author="w", reason="done", review=review
    )


def closed_now(database) -> dict[str, ClosedKey]:
    closures = ClosedKeys(database)
    closures.refresh()
    return closures.closed


def events(database, name: str = "p1") -> list[str]:
    rows = database.fetch_all("events_of_profile", id=name, limit=100)
    return [row["event"] for row in reversed(rows)]
