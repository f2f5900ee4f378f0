"""What nobody has written down is said to be so: no page shows an empty place as `None`, or breaks.

Rows may come from plain SQL, from older versions, or from a worker that died between two writes.
"""

from __future__ import annotations

import re

import pytest

from tests.dashboard_pages import PAGES
from tests.dashboard_site import made
from worker.database.client import DatabaseError
from worker.errors import NightshiftError

TABLES = ("work_queue", "job_attempts", "failure_groups", "profiles", "accounts", "breakers",
          "proxies", "limits", "workers", "runs", "batches", "schedules", "audit")  # fmt: skip
# Our own sentences.
SENTENCES = re.compile(r"None (among the|that is told of)")


@pytest.fixture(scope="module", params=["grouped", "ungrouped"])
def bare_site(request, server, tmp_path_factory):
    """A night of which nothing is written down that may be left out."""
    with made(server, tmp_path_factory.mktemp("bare")) as site:
        site.db.run_statement("UPDATE proxies SET is_enabled = FALSE WHERE name = 'de-3'")
        site.db.run_statement("UPDATE breakers SET held = 'open', until = NULL")
        site.db.run_statement(
            "UPDATE failure_groups SET muted_at = UTC_TIMESTAMP(6) WHERE task = 'visit'"
        )
        columns = [
            column
            for column in nullable(site.db)
            if column[1] != "fingerprint" or request.param == "ungrouped"
        ]
        emptied = [column for column in columns if empty(site.db, *column)]
        # Most of them; what a CHECK or the page's own subject needs stays.
        assert len(emptied) > 60
        yield site


def nullable(db):
    rows = db.run_statement(
        "SELECT table_name AS t, column_name AS c FROM information_schema.columns "
        "WHERE table_schema = DATABASE() AND is_nullable = 'YES' AND extra NOT LIKE '%%GENERATED%%'"
    )
    kept = {("runs", "pulse"), ("breakers", "held"), ("failure_groups", "muted_at")}
    return [(row["t"], row["c"]) for row in rows
            if row["t"] in TABLES and (row["t"], row["c"]) not in kept]  # fmt: skip


def empty(db, table, column):
    try:
        db.run_statement(f"UPDATE {table} SET {column} = NULL")
    except (DatabaseError, NightshiftError):
        return False
    return True


@pytest.mark.parametrize("page", [page for page in PAGES if "{ago}" not in page])
def test_a_page_says_what_is_known_and_never_none(bare_site, page):
    answer = bare_site.client().get(page)

    assert answer.status_code == 200, answer.text
    assert not re.search(r"\bNone\b", SENTENCES.sub("", answer.text)), page


def test_a_failure_without_a_reason_is_told_by_what_is_known(bare_site):
    client = bare_site.client()

    assert "no reason was kept" in client.get("/errors").text
    assert "timed out: no reason was kept" in client.get("/jobs/61").text
