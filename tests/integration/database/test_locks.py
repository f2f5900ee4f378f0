"""Locks by name: the server's own on one server, rows with a lease on the members of a cluster."""

from __future__ import annotations

import subprocess
import sys

import pytest

from worker.database import migrations
from worker.database.locks import Lock
from worker.database.statements import query


@pytest.fixture
def other(database, connect):
    """A second connection, as on another member."""
    return connect()


def test_a_servers_lock_is_given_to_one_and_ends_with_its_connection(database, other):
    first, second = Lock("run", "here"), Lock("run", "here")

    assert first.take(database)
    assert first.take(database), "taking it again is harmless"
    assert not second.take(other)
    database.close()
    assert second.take(other, wait_seconds=5)


def test_a_row_is_given_to_one_until_it_is_released(database, other):
    first, second = Lock("run", "here"), Lock("run", "here")

    assert first.take_row(database)
    assert not second.take_row(other)
    second.release_row(other)
    assert not second.take_row(other), "nobody gives up what another holds"
    first.release_row(database)
    assert second.take_row(other)


def test_a_row_outlives_its_connection_and_is_renewed_by_its_token(database, other):
    lock = Lock("run", "here")
    assert lock.take_row(database)
    database.close()

    assert lock.take_row(other)


def test_a_row_whose_lease_is_over_is_free(database, other):
    assert Lock("check", "p1", lease_seconds=-1).take_row(database)

    assert Lock("check", "p1").take_row(other)


def test_a_row_of_a_dead_process_of_this_machine_is_free_at_once(database, other):
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        dead = Lock("run", "here", pid=gone.pid)
        assert dead.take_row(database)
    assert gone.returncode == 0

    assert Lock("run", "here").take_row(other)
    assert not dead.take_row(database)


def test_a_row_of_a_process_that_cannot_be_seen_from_here_is_not_free(database, other):
    assert Lock("run", "here", pid=2**22 - 1).take_row(database)
    database.run_statement("UPDATE named_locks SET boot_id = 'of another machine'")

    assert not Lock("run", "here").take_row(other)


def test_locks_of_other_names_do_not_mind_each_other(database, other):
    assert Lock("run", "a").take_row(database)
    assert Lock("run", "b").take_row(other)
    assert Lock("check", "a").take_row(other)


def test_the_table_made_before_the_schema_is_that_of_its_migration():
    (step,) = [step for step in migrations.steps() if step.name == "0040_named_locks"]

    assert " ".join(query("create_named_locks").split()) == " ".join(step.sql.split())
