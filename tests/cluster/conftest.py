"""Real clusters of three members for the tests that need one; made once, as root."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any

import pytest

from worker.database.client import Database
from worker.database_settings import DatabaseSettings
from worker.drill.cluster.world import ClusterWorld, cluster_world
from worker.errors import NightshiftError

EMPTIED = ("work_queue", "job_attempts", "limits", "named_locks", "outbox", "failure_groups")


def world_of(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterWorld]:
    try:
        with cluster_world(tmp_path_factory.mktemp(kind), kind) as world:
            yield world
    except NightshiftError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def galera_world(tmp_path_factory) -> Iterator[ClusterWorld]:
    yield from world_of("galera", tmp_path_factory)


@pytest.fixture(scope="session")
def group_world(tmp_path_factory) -> Iterator[ClusterWorld]:
    yield from world_of("group", tmp_path_factory)


@pytest.fixture(scope="session")
def multi_world(tmp_path_factory) -> Iterator[ClusterWorld]:
    yield from world_of("group-multi", tmp_path_factory)


@pytest.fixture
def world(request) -> ClusterWorld:
    """The cluster that a test is parametrised with, whole, and its queue empty."""
    found: ClusterWorld = request.getfixturevalue(f"{request.param}_world")
    found.revive()
    with closing(Database(found.database, patience_seconds=20)) as db:
        for table in EMPTIED:
            db.run_statement(f"DELETE FROM {table}")
    return found


@pytest.fixture
def on_member(world) -> Iterator[Callable[..., Database]]:
    """Connect to the queue on one member, by its number from 0."""
    with ExitStack() as stack:

        def connect(index: int, **options: Any) -> Database:
            member = world.cluster.members[index]
            settings = replace(member.settings, database=DatabaseSettings().database)
            return stack.enter_context(closing(Database(settings, **options)))

        yield connect
