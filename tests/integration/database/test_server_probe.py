"""doctor's probe of the server: a good one passes, and what does not hold is named."""

from __future__ import annotations

import pytest

from worker.database import server_probe
from worker.database.server_kind import recognise
from worker.database.server_probe import _Probe


@pytest.fixture
def probe(database, connect):
    one = connect(lock_wait_seconds=server_probe.LOCK_WAIT_SECONDS)
    database.execute("probe_add", name="doctor:test")
    return _Probe(one, connect(), "doctor:test")


def test_a_good_server_has_no_problems_and_keeps_nothing(database, settings):
    assert server_probe.problems(settings) == []

    assert database.run_statement("SELECT * FROM named_locks") == []


def test_a_session_that_forgets_its_settings_is_named(probe):
    probe.one.run_statement("SET time_zone = '+02:00'")

    (problem,) = probe.sessions()
    assert "settings of a session do not last" in problem


def test_a_pooler_that_changes_the_session_is_named(probe, connect):
    sessions = [connect(lock_wait_seconds=server_probe.LOCK_WAIT_SECONDS) for _ in range(2)]
    turns = iter(sessions * server_probe.STATEMENTS)

    class Pooled:
        def fetch_all(self, name):
            return next(turns).fetch_all(name)

    probe.one = Pooled()

    (problem,) = probe.sessions()
    assert "several sessions" in problem


def test_clocks_that_are_apart_are_named(probe):
    probe.other.run_statement("SET timestamp = 1700000000")

    (problem,) = probe.clocks()
    assert "clocks of two members" in problem


def test_a_row_that_both_could_claim_is_named(probe):
    class Reckless:
        """A server that says yes to everybody."""

        def execute(self, query, /, **params):
            return 1

    probe.other = Reckless()

    (problem,) = probe.claims()
    assert "does not guard rows" in problem


def test_the_servers_own_kind_is_recognised(database):
    kind = recognise(database)

    assert kind.name.startswith(("MariaDB ", "MySQL "))
    assert (kind.refusal, kind.id_step, kind.details) == (None, 1, ())


def test_ids_that_do_not_grow_by_one_are_seen(database):
    database.run_statement("SET SESSION auto_increment_increment = 7")

    assert recognise(database).id_step == 7
