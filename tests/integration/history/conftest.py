"""Jobs in error of two groups, and the scope of a command over them."""

from __future__ import annotations

import pytest

from tests.conftest import because
from worker.history import archive
from worker.history.dead_letters import Scope, parse_filter

TIMEOUT, MISSING = "aaaa000000000001", "aaab000000000002"


@pytest.fixture
def fail(queue, claim_as):
    """Add a job and let it fail in a group; return its number."""

    def fail(
        group=TIMEOUT, reason="Timeout 30000ms exceeded", task="visit", url="https://a.example"
    ):
        job = queue.enqueue(task, {"url": url})
        why = because(reason, f"Traceback: {reason}", group, f"{job}/1", None, f"{task}: it")
        queue.fail(claim_as(), why)
        return job

    return fail


@pytest.fixture
def scope(database):
    """Freeze a scope now."""

    def scope(text=None, **how):
        wanted = {"filter": parse_filter(text)} if text else how
        return Scope(archive.now(database), **wanted)

    return scope


def age(database, job, hours):
    database.run_statement(
        "UPDATE work_queue SET finished_at = UTC_TIMESTAMP(6) - INTERVAL %(hours)s HOUR "
        "WHERE id = %(id)s",
        {"id": job, "hours": hours},
    )
