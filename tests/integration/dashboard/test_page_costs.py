"""A page makes at most eight statements, none reads a table whole, and none may take long."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from tests.dashboard_pages import PAGES
from tests.dashboard_site import made
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
    ("jobs_at_work", {"ids": (1, 2)}),
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


def test_a_statement_that_takes_too_long_is_ended(server, tmp_path):
    with made(server, tmp_path, statement_seconds=1.0) as site, site.app.test_request_context():
        db = site.app.extensions["nightshift"].connections.borrow()
        with pytest.raises((DatabaseUnavailable, Exception), match=r"(?i)time|interrupt|exceeded"):
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
