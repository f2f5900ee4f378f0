"""A page makes at most eight statements, none reads a table whole, and none may take long."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from tests.dashboard_pages import PAGES
from tests.dashboard_site import made
from worker.database.client import Database
from worker.database.statements import query
from worker.errors import DatabaseUnavailable


@pytest.mark.parametrize("page", PAGES)
def test_a_page_makes_at_most_eight_statements(site, page):
    client = site.client()
    page = page.format(ago=f"{datetime.now(UTC) - timedelta(days=2):%Y-%m-%dT%H:%M}")
    client.get(page)

    answer = client.get(page)

    assert answer.status_code == 200, answer.text
    statements = int(re.search(r'db;desc="(\d+)"', answer.headers["Server-Timing"])[1])
    assert statements <= 8


KINDS = {
    "ready": "",
    "due": "not_before = UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE",
    "in an order": "order_key = 'x'",
    "of an account": "account_id = 'acme'",
    "of an account and profile": "account_id = 'acme', profile_id = 'acme-08'",
    "of an account that is not there": "account_id = 'nobody'",
    "with follow-ups": "id = 9999",
    "at work": "status = 'in_progress', worker_id = 1, incarnation = 2, started_at = created_at, "
    "lease_until = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR",
    "left behind": "status = 'in_progress', started_at = created_at, "
    "lease_until = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR",
}


@pytest.mark.parametrize("is_running", [True, False], ids=["running", "nothing runs"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_job_of_any_kind_says_why_it_waits_in_at_most_eight(site, kind, is_running):
    db, client = site.db, site.client()
    db.run_statement("UPDATE work_queue SET order_key = 'x' WHERE id = 61")
    db.run_statement("INSERT INTO work_queue (id, payload, queue) VALUES (9000, '{}', 'default')")
    try:
        if KINDS[kind]:
            db.run_statement(f"UPDATE work_queue SET {KINDS[kind]} WHERE id = 9000")
        job = 9999 if kind == "with follow-ups" else 9000
        db.run_statement(f"UPDATE work_queue SET parent_id = {job} WHERE id BETWEEN 20 AND 60")
        if not is_running:
            db.run_statement("UPDATE runs SET ended_at = UTC_TIMESTAMP(6)")

        answer = client.get(f"/jobs/{job}")

        assert answer.status_code == 200, answer.text
        statements = int(re.search(r'db;desc="(\d+)"', answer.headers["Server-Timing"])[1])
        assert statements <= 8
    finally:
        db.run_statement("DELETE FROM work_queue WHERE id >= 9000")
        db.run_statement("UPDATE work_queue SET parent_id = NULL WHERE id BETWEEN 20 AND 60")
        db.run_statement("UPDATE runs SET ended_at = NULL")


READS = [
    ("newest_jobs", {}),
    ("jobs_in_status", {"status": "error"}),
    ("jobs_of_group", {"group": "3f9a1c2e00000001"}),
    ("ready_jobs_in_order", {"priority": 0, "id": 5}),
    ("waiting_jobs_in_order", {"moment": "2020-01-01", "id": 0}),
    ("done_jobs", {"moment": "2100-01-01", "id": 0}),
    ("jobs_of_batch", {"batch": "monday"}),
    ("jobs_of_batch_reach", {"batch": "monday"}),
    ("jobs_of_parent", {"parent": 1}),
    ("jobs_of_parent_reach", {"parent": 1}),
    ("batches_before", {}),
    ("jobs_named", {"key": "key-61", "place": "key:x"}),
    ("samples_of_group", {"fingerprint": "3f9a1c2e00000001", "middle": 1}),
    ("count_up_to", {"most": 100}),
    ("failure_trends", {"since": "2020-01-01", "seconds": 60}),
    ("done_of_site_since", {"since": "2020-01-01", "most": 100}),
    ("runs_of_workers", {"ids": (1, 2)}),
    ("jobs_at_work", {"ids": (1, 2)}),
    ("claims_of_runs", {"run_ids": (1, 2)}),
    ("latest_deeds", {"before": None}),
    ("half_done_groups", {}),
    ("pending_jobs_by_place", {"limit": 100}),
    ("pending_jobs_of_site", {"limit": 100}),
]


@pytest.mark.parametrize(("name", "params"), READS, ids=[name for name, _ in READS])
def test_no_statement_of_a_page_reads_a_table_whole(site, name, params):
    usual = {"window": 51, "skip": 50, "limit": 51, "before": 90, "task": None, "site": None,
             "text": None, "queue": None, "batch": None, "id": 61, "of_status": None,
             "waits": None}  # fmt: skip

    # MySQL 9 would draw a tree.
    explained = f"EXPLAIN /*!80000 FORMAT=TRADITIONAL */ {query(name)}"
    plan = site.db.run_statement(explained, usual | params)

    whole = [
        row
        for row in plan
        if row["type"] == "ALL"
        and row["table"] in ("work_queue", "q", "job_attempts", "h", "audit", "batches")
    ]
    assert whole == [], plan


# So many jobs that reading all of them is dearer than any index.
MANY = """
INSERT INTO work_queue (id, payload, status, attempts, task, queue, batch, parent_id, created_at,
                        started_at, finished_at, fingerprint)
SELECT 10000 + a.id * 200 + b.id, '{}', IF(b.id % 10 = 0, 'error', 'done'), 1, 'visit', 'default',
       IF(a.id % 2, 'monday', NULL), IF(a.id % 3, NULL, 1), UTC_TIMESTAMP(6) - INTERVAL 3 DAY,
       UTC_TIMESTAMP(6) - INTERVAL 3 DAY, UTC_TIMESTAMP(6) - INTERVAL 3 DAY,
       IF(b.id % 10 = 0, CONCAT('00000000000001', LPAD(b.id, 2, '0')), NULL)
  FROM work_queue a JOIN work_queue b WHERE a.id <= 60 AND b.id <= 90
"""


def test_no_statement_that_any_page_makes_scans_what_can_be_large(server, tmp_path, monkeypatch):
    """Ask for every page, and for the server's plan of all that they and the keepers asked."""
    with made(server, tmp_path) as site:
        site.db.run_statement(MANY)
        site.db.run_statement("ANALYZE TABLE work_queue, job_attempts, failure_groups")
        asked = {}
        fetch_all = Database.fetch_all

        def noted(db, name, /, conditions=(), **params):
            asked[name, conditions] = params
            return fetch_all(db, name, conditions, **params)

        monkeypatch.setattr(Database, "fetch_all", noted)
        client, ago = site.client(), f"{datetime.now(UTC) - timedelta(days=2):%Y-%m-%dT%H:%M}"
        for page in PAGES:
            assert client.get(page.format(ago=ago)).status_code == 200
        monkeypatch.undo()
        scans = []
        for (name, conditions), params in asked.items():
            if name in WALKS or query(name).startswith("SHOW"):
                continue
            sql = f"EXPLAIN /*!80000 FORMAT=TRADITIONAL */ {query(name, conditions)}"
            plan = site.db.run_statement(sql, params)
            scans += [(name, *row.values()) for row in plan if is_scan(row)]
    assert len(asked) > 40
    assert scans == []


# These walk down the table by its key, and stop after as many rows as a page looks at.
WALKS = {"newest_jobs", "newest_jobs_reach"}


def is_scan(row):
    """Tell whether a line of a plan reads many rows that nobody has asked for."""
    is_derived = str(row["table"]).startswith("<")
    return not is_derived and row["type"] in ("ALL", "index") and int(row["rows"] or 0) > 1000


def test_a_statement_that_takes_too_long_is_ended(server, tmp_path):
    with made(server, tmp_path, statement_seconds=1.0) as site, site.app.test_request_context():
        db = site.app.extensions["nightshift"].connections.borrow()
        with pytest.raises(DatabaseUnavailable, match="the query took longer than it may"):
            db.run_statement("SELECT COUNT(*) FROM work_queue a, work_queue b, work_queue c, "
                             "work_queue d WHERE SLEEP(0.01) = 0")  # fmt: skip
        db.close()


def test_many_viewers_cost_one_count(site, monkeypatch):
    passes = []
    from worker.dashboard import facts

    gather = facts.gather
    monkeypatch.setattr(facts, "gather", lambda *given: passes.append(1) or gather(*given))
    site.forget()
    clients = [site.client() for _ in range(5)]

    for client in clients:
        client.get("/errors")

    assert len(passes) == 1
