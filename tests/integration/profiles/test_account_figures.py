"""What accounts have done lately, in the queue and in the archive, for little."""

from __future__ import annotations

import pytest

from tests.conftest import because
from tests.integration.claiming.rows import rows_read
from worker.profiles import account_figures, store


@pytest.fixture
def ended(database, queue):
    """Add a job that ended some seconds before the end of today."""

    def ended(status, days_ago=0, **columns):
        job_id = queue.enqueue("visit", {}, **columns)
        database.run_statement(
            "UPDATE work_queue SET status = %(status)s, attempts = 1, finished_at ="
            " UTC_TIMESTAMP(6) - INTERVAL %(days)s DAY WHERE id = %(id)s",
            {"status": status, "days": days_ago, "id": job_id},
        )
        return job_id

    return ended


def counts(figures):
    return [
        (each["done"], each["failed"], each["blocked"]) for each in (figures.today, figures.week)
    ]


def test_jobs_count_for_the_account_that_they_name_or_whose_profile(database, add, ended):
    add("p1", account_id="a1")
    store.add_account(database, "a2", by="me")
    ended("done", account_id="a1")
    ended("done", profile_id="p1")
    ended("error", 2, account_id="a1")
    ended("done", 8, account_id="a1")
    ended("done")

    found = account_figures.read(database)

    assert counts(found["a1"]) == [(2, 0, 0), (2, 1, 0)]
    assert found["a1"].profile_states == {"available": 1}
    assert counts(found["a2"]) == [(0, 0, 0), (0, 0, 0)]
    assert found["a2"].last_success is None


def test_the_last_success_may_be_long_ago_and_in_the_archive(database, add, ended, put_away):
    add("p1", account_id="a1")
    job_id = ended("done", 30, account_id="a1")
    ended("error", 1, account_id="a1")
    finished_at = database.fetch_all("get_job", id=job_id)[0]["finished_at"]
    put_away()

    found = account_figures.read(database)["a1"]

    assert found.last_success == finished_at
    assert counts(found) == [(0, 0, 0), (0, 1, 0)]


def test_blocks_are_counted_also_after_a_good_end_and_in_the_archive(
    database, add, queue, worker, put_away
):
    add("p1", account_id="a1")
    queue.enqueue("visit", {}, account_id="a1")
    claim = worker.claim_now()
    queue.block(claim, because("captcha"), delay=None)
    assert counts(account_figures.read(database)["a1"])[1] == (0, 0, 1)
    database.run_statement("UPDATE work_queue SET status = 'done', finished_at = UTC_TIMESTAMP(6)")
    put_away()

    assert counts(account_figures.read(database)["a1"])[1] == (1, 0, 1)


def test_figures_cost_nothing_for_jobs_of_nobody(database, add, ended):
    add("p1", account_id="a1")
    ended("done", account_id="a1")
    database.run_statement(
        "INSERT INTO work_queue (payload, status, finished_at)"
        " WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 900)"
        " SELECT '{}', 'done', UTC_TIMESTAMP(6) FROM n"
    )
    # MySQL reads what it knows of a table when that is opened for the first time.
    account_figures.read(database)
    before = rows_read(database)
    account_figures.read(database)

    assert rows_read(database) - before < 300
