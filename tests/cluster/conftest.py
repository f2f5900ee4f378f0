"""Real clusters of three members for the tests that need one; made once, as root."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any, NoReturn

import pytest

from tests.conftest import QueueForTests
from worker.claiming.candidates import Candidates
from worker.database.client import Database
from worker.database_settings import DatabaseSettings
from worker.drill.cluster.world import ClusterWorld, cluster_world
from worker.errors import SettingsError
from worker.models import Claim, Owner, Partition

EMPTIED = ("work_queue", "job_attempts", "limits", "named_locks", "outbox", "failure_groups")


def cannot_run(chosen: str, why: str) -> NoReturn:
    """Fail if cluster tests were asked for: none that ran must not look like all that passed."""
    if "cluster" in chosen.replace("not cluster", ""):
        pytest.fail(why, pytrace=False)
    pytest.skip(why)


@pytest.fixture(scope="session", autouse=True)
def _as_root(request: pytest.FixtureRequest) -> None:
    if os.geteuid() != 0:
        cannot_run(request.config.option.markexpr, "only root may make network namespaces")


@pytest.fixture(scope="session")
def live(request, tmp_path_factory) -> Iterator[ClusterWorld]:
    """The kind of cluster that tests are parametrised with, one at a time."""
    try:
        with cluster_world(tmp_path_factory.mktemp(request.param), request.param) as world:
            yield world
    except SettingsError as error:
        cannot_run(request.config.option.markexpr, str(error))


@pytest.fixture
def world(live) -> ClusterWorld:
    """That cluster, whole, and its queue empty."""
    live.revive()
    with closing(Database(live.database, patience_seconds=20)) as db:
        for table in EMPTIED:
            db.run_statement(f"DELETE FROM {table}")
    return live


@pytest.fixture
def on_member(world) -> Iterator[Callable[..., Database]]:
    """Connect to the queue on one member, by its number from 0."""
    with ExitStack() as stack:

        def connect(index: int, **options: Any) -> Database:
            member = world.cluster.members[index]
            settings = replace(member.settings, database=DatabaseSettings().database)
            return stack.enter_context(closing(Database(settings, **options)))

        yield connect


def claim_on(db: Database, incarnation: int = 1000) -> Claim | None:
    """Claim the next job of all on one member."""
    return QueueForTests(db).claim(Owner(0, incarnation), Candidates(db, Partition(0, 1)))
