"""Every action does what its command does, asks first, and is in the audit with scope and count."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from tests.dashboard_site import made, send

GROUP = "3f9a1c2e00000001"


@pytest.fixture
def site(server, tmp_path):
    """Actions change the night: each test has its own."""
    with made(server, tmp_path) as found:
        yield found


def answer_group(site, action, **fields):
    """Send the answer to a question about the group, as its page asks it."""
    client = site.client()
    asked = client.get("/errors").text.partition(f"/errors/{GROUP}/{action}")[2]
    until = re.search(r'name="until" value="([^"]+)"', asked)[1]
    return send(client, f"/errors/{GROUP}/{action}", until=until, **fields)


def rows(site, sql, **params):
    return site.db.run_statement(sql, params)


def audit(site):
    found = rows(site, "SELECT who, action, scope, number, reason FROM audit ORDER BY id")
    return [tuple(row.values()) for row in found]


def pending_of_group(site):
    sql = "SELECT COUNT(*) AS n FROM work_queue WHERE fingerprint = %(g)s AND status = 'pending'"
    return rows(site, sql, g=GROUP)[0]["n"]


def test_a_retry_of_all_puts_the_group_back(site):
    answer = answer_group(site, "retry", how="all", back="/errors?range=week")

    assert answer.location == "/errors?range=week"
    assert pending_of_group(site) == 8
    assert audit(site) == [("local", "retry", f"group {GROUP}", 8, "")]


def test_a_canary_sends_at_most_ten_ahead(site):
    rows(
        site,
        "UPDATE work_queue SET fingerprint = %(g)s WHERE status = 'error' AND id <> 110",
        g=GROUP,
    )

    answer_group(site, "retry", how="canary")

    assert pending_of_group(site) == 10
    assert audit(site)[0][1:4] == ("retry", f"the oldest 10 of group {GROUP}", 10)


def test_what_may_be_half_done_is_not_retried_with_its_group(site):
    site.db.run_statement(
        "UPDATE work_queue SET fingerprint = %(g)s WHERE id = %(id)s",
        {"g": GROUP, "id": site.night.half_done},
    )

    answer_group(site, "retry", how="all")

    sql = "SELECT status FROM work_queue WHERE id = %(id)s"
    assert rows(site, sql, id=site.night.half_done)[0]["status"] == "error"


def test_a_half_done_job_is_retried_only_when_that_was_said(site):
    number = site.night.half_done
    sql = "SELECT status FROM work_queue WHERE id = %(id)s"

    send(site.client(), f"/jobs/{number}/retry")
    assert rows(site, sql, id=number)[0]["status"] == "error"

    send(site.client(), f"/jobs/{number}/retry", half_done="yes")
    assert rows(site, sql, id=number)[0]["status"] == "pending"


def test_a_discard_moves_the_group_to_the_archive(site):
    answer_group(site, "discard", reason="shop is closed")

    found = rows(site, "SELECT archived_by, archive_reason FROM archived_jobs")
    assert len(found) == 8
    assert found[0]["archived_by"] == "local (dashboard)"
    assert "shop is closed" in found[0]["archive_reason"]
    assert audit(site) == [("local", "discard", f"group {GROUP}", 8, "shop is closed")]


@pytest.mark.parametrize("action", ["discard", "retry"])
def test_what_failed_after_the_question_is_not_in_the_answer(site, action):
    client = site.client()
    page = client.get("/errors").text
    assert "Discard all 8 jobs?" in page
    until = re.search(r'name="until" value="([^"]+)"', page)[1]
    rows(
        site,
        "UPDATE work_queue SET status = 'error', fingerprint = %(g)s, finished_at = "
        "UTC_TIMESTAMP(6) WHERE id IN (1, 2)",
        g=GROUP,
    )
    site.forget()
    assert "Discard all 10 jobs?" in client.get("/errors").text

    send(client, f"/errors/{GROUP}/{action}", how="all", until=until)

    assert audit(site)[0][3] == 8
    sql = "SELECT status FROM work_queue WHERE id IN (1, 2)"
    assert [row["status"] for row in rows(site, sql)] == ["error", "error"]


def test_a_question_without_its_time_or_from_the_future_means_nothing_more(site):
    client = site.client()

    send(client, f"/errors/{GROUP}/discard")
    send(client, f"/errors/{GROUP}/discard", until="tomorrow")
    assert [deed[3] for deed in audit(site)] == [0, 0]
    later = datetime.now(UTC).replace(tzinfo=None) + timedelta(days=1)
    rows(site, "UPDATE work_queue SET finished_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR "
               "WHERE id = 61")  # fmt: skip
    send(client, f"/errors/{GROUP}/discard", until=later.isoformat())
    assert audit(site)[-1][3] == 7


def test_a_muted_group_is_left_out_and_can_be_unmuted(site):
    client = site.client()

    send(client, f"/errors/{GROUP}/mute", reason="known")
    assert "shop.py:price" not in client.get("/errors").text
    assert "shop.py:price" in client.get("/errors?muted=1").text

    send(client, f"/errors/{GROUP}/unmute")
    assert "shop.py:price" in client.get("/errors").text


@pytest.mark.parametrize("action", ["retry", "discard", "mute", "unmute"])
def test_the_beginning_of_a_groups_name_is_no_group(site, action):
    client, until = site.client(), datetime.now(UTC).isoformat()

    send(client, f"/errors/{GROUP[:6]}/{action}", until=until, reason="x")

    assert f"there is no group {GROUP[:6]}" in client.get("/errors").text
    assert [each[3] for each in audit(site)] == [0]
    assert rows(site, "SELECT muted_at FROM failure_groups WHERE fingerprint = %(g)s", g=GROUP) == [
        {"muted_at": None}
    ]
    assert pending_of_group(site) == 0


def test_one_job_is_retried_or_discarded(site):
    send(site.client(), "/jobs/61/retry")
    send(site.client(), "/jobs/62/discard", reason="no more")

    assert rows(site, "SELECT status FROM work_queue WHERE id = 61")[0]["status"] == "pending"
    assert len(rows(site, "SELECT id FROM archived_jobs WHERE id = 62")) == 1
    assert "archived" in site.client().get("/jobs/62").text


def test_a_job_that_is_not_in_error_is_left_alone_and_that_is_told(site):
    client = site.client()

    send(client, "/jobs/1/retry")

    assert "job 1 is done, not in error" in client.get("/").text
    assert audit(site) == [("local", "retry", "job 1", 0, "")]


def test_pause_and_resume_from_any_page(site):
    client = site.client()

    send(client, "/pause", reason="proxy list replaced")
    assert "proxy list replaced" in client.get("/timeline").text
    assert rows(site, "SELECT set_by FROM control") == [{"set_by": "local (dashboard)"}]

    send(client, "/resume")
    assert rows(site, "SELECT * FROM control") == []
    assert [deed[1] for deed in audit(site)] == ["pause", "resume"]


def test_profiles_are_cleared_quarantined_checked_out_and_returned(site):
    client = site.client()

    def state(name):
        return rows(site, "SELECT state FROM profiles WHERE id = %(n)s", n=name)[0]["state"]

    send(client, "/profiles/acme-07/clear", reason="new password")
    assert state("acme-07") == "available"
    send(client, "/profiles/acme-08/quarantine", reason="odd")
    assert state("acme-08") == "quarantined"
    send(client, "/profiles/acme-07/check-out", **{"for": "1h"})
    assert state("acme-07") == "leased"
    send(client, "/profiles/acme-07/return")
    assert state("acme-07") == "available"
    assert [deed[1] for deed in audit(site)] == ["clear", "quarantine", "check out", "return"]


def test_breakers_and_limits_are_changed(site):
    client = site.client()

    send(client, "/breakers/close", key="site:portal.example.org")
    send(client, "/breakers/open", key="site:slow.example", reason="asked us to")
    send(client, "/limits/clear", key="site:books.example.com")

    found = rows(site, "SELECT name, state FROM breakers ORDER BY name")
    assert {row["name"]: row["state"] for row in found} == {
        "site:portal.example.org": "closed",
        "site:slow.example": "open",
    }
    assert rows(site, "SELECT * FROM limits") == []


@pytest.mark.parametrize(
    "path", ["/errors/ffffffffffffffff/retry", "/breakers/open", "/profiles/x/clear"]
)
def test_what_cannot_be_done_is_told_and_audited(site, path):
    client = site.client()

    assert send(client, path, key="nonsense").status_code == 303

    assert "Nothing was done" in client.get("/").text
    assert audit(site)[0][3] == 0


def test_every_action_is_asked_first_with_its_command(site):
    page = site.client().get("/errors").text

    group = "3f9a1c2e00000001"
    named = (f"retry --group {group}", f"mute {group}", f"discard --group {group}")
    for command in (f"retry --group {group} --limit 10<", *(f"{each}<" for each in named)):
        assert f"launcher.py {command}" in page
