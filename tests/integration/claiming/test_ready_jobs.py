"""Jobs that are held back are walked through once: idle workers cost the server next to nothing.

Shows invariant 13: an idle or held-back pool reads a few rows, however many jobs wait.
"""

from __future__ import annotations

import itertools
import time

import pytest

from tests.conftest import because
from tests.integration.claiming.rows import add_jobs, questions, rows_read
from worker.claiming import candidates as candidates_module
from worker.claiming.candidates import Candidates
from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.ready_jobs import LEVELS_ONE_BY_ONE, ReadyJobs, Ring
from worker.claiming.search_trail import News
from worker.guards import breakers, limits
from worker.models import Partition

BACKLOG = 20_000
WHY = because("the run was stopped")
_incarnations = itertools.count(1)


@pytest.fixture
def look(database, monkeypatch):
    """A worker that looks for jobs; each call is a moment later, and no look is broken off.

    Nor does it look back by itself: how often it may do that depends on the machine.
    """
    monkeypatch.setattr(candidates_module, "_LOOK_SECONDS", 60.0)
    monkeypatch.setattr(candidates_module, "rest_seconds", lambda took: 1e9)

    def look(slot=0, total=1, *, db=database, **options):
        candidates = Candidates(db, Partition(slot, total), **options)

        def again():
            candidates._closures._read_at = float("-inf")
            candidates._read_at = float("-inf")
            candidates._refresh_at = candidates._look_at = 0.0
            found = candidates.next()
            return found and found.job_id

        return again

    return look


def hold(database, site):
    breakers.open_by_hand(database, f"site:{site}", None, "held", "me")


def release(database, site):
    breakers.close_by_hand(database, f"site:{site}", keep=False, by="me")


def add_held(database, ids, site="held.example", priority=0):
    rows = ", ".join(f"""({i}, '{{"url": "https://{site}/"}}', {priority})""" for i in ids)
    database.run_statement(f"INSERT INTO work_queue (id, payload, priority) VALUES {rows}")


@pytest.mark.parametrize(
    ("slot", "total", "help_others"), [(0, 1, True), (1, 2, True), (0, 2, False)]
)
def test_a_job_behind_many_priorities_that_are_held_back_is_found(
    database, look, slot, total, help_others
):
    hold(database, "held.example")
    for priority in range(LEVELS_ONE_BY_ONE + 2):
        add_held(database, [2 * priority + 2], priority=priority)
    add_jobs(database, [100], priority=LEVELS_ONE_BY_ONE + 5)

    assert look(slot, total, help_others=help_others)() == 100


def test_an_idle_worker_reads_a_few_rows_however_many_jobs_are_held_back(database, connect, look):
    hold(database, "held.example")
    add_held(database, range(1, BACKLOG))
    db = connect()
    again = look(1, 6, db=db)
    assert again() is None
    turns = 20

    before = rows_read(db)
    for _ in range(turns):
        assert again() is None

    assert (rows_read(db) - before) / turns < 100


def test_a_job_that_comes_new_is_found_behind_many_that_are_held_back(database, connect, look):
    hold(database, "held.example")
    add_held(database, range(1, BACKLOG))
    db = connect()
    again = look(1, 6, db=db)
    assert again() is None
    add_jobs(database, [BACKLOG + 1])
    before = rows_read(db)

    assert again() == BACKLOG + 1
    assert rows_read(db) - before < 300


def test_what_is_not_held_back_any_more_is_found_at_once(database, look):
    for site in ("held.example", "other.example"):
        hold(database, site)
    add_held(database, range(1, 3000))
    add_held(database, [3000], site="other.example")
    again = look(1, 6)
    assert again() is None

    release(database, "other.example")

    assert again() == 3000


def test_a_key_that_opens_and_closes_again_costs_no_second_walk(database, connect, look):
    hold(database, "held.example")
    add_held(database, range(1, BACKLOG))
    db = connect()
    again = look(db=db)
    assert again() is None
    release(database, "held.example")
    assert again() == 1
    hold(database, "held.example")
    before = rows_read(db)

    assert again() is None

    assert rows_read(db) - before < 100


def test_a_job_that_was_refused_is_found_again_when_its_key_opens(database, queue, look):
    job = queue.enqueue("visit", {"url": "https://held.example/"})
    again = look()
    assert again() == job
    limits.set_limit(database, "site:held.example", concurrent=0, per_minute=None, by="me")
    assert again() is None

    limits.clear_limit(database, "site:held.example")

    assert again() == job


def test_a_job_that_came_back_among_held_ones_is_found_when_the_pool_counts_one_more(
    database, look
):
    hold(database, "held.example")
    add_held(database, range(1, 3000))
    database.run_statement("UPDATE work_queue SET not_before = '2999-01-01' WHERE id = 5")
    database.run_statement("UPDATE work_queue SET payload = '{}' WHERE id = 5")
    ready = [2998]
    again = look(1, 6, news=lambda: News(ready[0]))
    assert again() is None
    assert again() is None
    database.run_statement("UPDATE work_queue SET not_before = NULL WHERE id = 5")
    assert again() is None

    ready[0] += 1

    assert again() == 5


def test_a_pool_that_works_its_jobs_off_does_not_look_back_for_more(database, look):
    add_jobs(database, range(6, 6 * 3000, 6))
    own = range(6 * 3000 + 1, 6 * 3020, 6)
    add_jobs(database, own)
    ready = itertools.count(5000, -1)
    again = look(1, 6, news=lambda: News(next(ready)))
    assert again() == own[0]
    before = rows_read(database)

    assert [again() for _ in own[1:]] == list(own[1:])

    assert rows_read(database) - before < 3000


def test_a_long_look_at_everybodys_jobs_is_left_to_the_first_idle_worker(
    database, connect, look, monkeypatch
):
    monkeypatch.setattr(candidates_module, "_COSTLY_SECONDS", 0.0)
    monkeypatch.setattr(candidates_module, "_LOOK_SECONDS", 0.0)
    monkeypatch.setattr("worker.claiming.ready_jobs._QUICK_SECONDS", 0.0)
    hold(database, "held.example")
    add_held(database, range(1, 120_001, 6))
    add_jobs(database, [120_006])
    firsts = [False]
    again = look(2, 6, is_first=lambda: firsts[0])
    assert [again() for _ in range(20)] == [None] * 20

    firsts[0] = True

    assert 120_006 in [again() for _ in range(20)]


def test_a_look_that_takes_long_is_broken_off_and_continued(database, look, monkeypatch):
    monkeypatch.setattr(candidates_module, "_LOOK_SECONDS", 0.0001)
    monkeypatch.setattr("worker.claiming.ready_jobs._QUICK_SECONDS", 0.0)
    monkeypatch.setattr("worker.claiming.ready_jobs._SLOW_SECONDS", 0.0)
    hold(database, "held.example")
    add_held(database, range(1, 60_001, 3))
    add_jobs(database, [60_001])
    again = look()

    looks = [again() for _ in range(40)]

    assert looks[0] is None
    assert 60_001 in looks


def test_idle_workers_behind_the_first_ask_half_as_often(database, connect, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    db = connect()
    candidates = Candidates(db, Partition(1, 2), is_first=lambda: False)
    assert not candidates.has_next()
    before = questions(db)

    now[0] += 0.5
    assert not candidates.has_next()
    assert questions(db) == before + 1

    add_jobs(database, [1])
    now[0] += 0.6
    assert candidates.has_next()


def test_payloads_of_a_megabyte_hold_nobody_back(database):
    # MySQL sorts whole rows in a buffer of a quarter of that.
    large = '{"text": "%s"}' % ("x" * 1_000_000)
    for payload in (large, "{}", large, "{}"):
        database.run_statement(
            "INSERT INTO work_queue (payload) VALUES (%(payload)s)", {"payload": payload}
        )
    jobs = ReadyJobs(database, Partition(0, 1))
    level = jobs.next_level(None)

    found = jobs.read(Ring.ANY, level, 0, 100, ClosedKeys(database), 10)

    assert [each.job_id for each in found] == [1, 2, 3, 4]
    assert len(jobs.read_beyond(Ring.ANY, level, ClosedKeys(database), 10)) == 4
