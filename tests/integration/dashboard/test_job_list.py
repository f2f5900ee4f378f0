"""Lists of jobs: each state in its order, page after page without gap or repetition."""

from __future__ import annotations

import re

import pytest

from worker.dashboard import job_list
from worker.dashboard.job_list import State, Wanted


def walked(db, wanted, pages=100):
    """Read page after page; return the ids in the order they came."""
    found, after = [], ""
    for _ in range(pages):
        page = job_list.read(db, Wanted(**{**_fields(wanted), "after": after}))
        found += [row["id"] for row in page.jobs]
        if not page.next:
            return found
        after = page.next
    raise AssertionError("it does not end")


def _fields(wanted):
    return {name: getattr(wanted, name) for name in Wanted.__dataclass_fields__}


@pytest.mark.parametrize("size", [3, 7, 50])
@pytest.mark.parametrize(
    ("state", "where", "order"),
    [
        (State.ALL, "TRUE", "id DESC"),
        (State.READY, "status = 'pending' AND not_before IS NULL", "priority, id"),
        (State.WAITING, "status = 'pending' AND not_before IS NOT NULL", "not_before, id"),
        (State.IN_PROGRESS, "status = 'in_progress'", "id DESC"),
        (State.ERROR, "status = 'error'", "id DESC"),
        (State.DONE, "status = 'done'", "finished_at DESC, id DESC"),
    ],
)
def test_every_job_of_a_state_comes_once_and_in_order(site, monkeypatch, state, where, order, size):
    monkeypatch.setattr(job_list, "PAGE", size)
    expected = site.db.run_statement(f"SELECT id FROM work_queue WHERE {where} ORDER BY {order}")

    assert walked(site.db, Wanted(state)) == [row["id"] for row in expected]


@pytest.mark.parametrize("window", [5, 20, 5000])
def test_a_filter_finds_all_however_far_one_page_looks(site, monkeypatch, window):
    monkeypatch.setattr(job_list, "WINDOW", window)
    expected = site.db.run_statement(
        "SELECT id FROM work_queue WHERE payload LIKE '%portal.example.org%' ORDER BY id DESC"
    )

    found = walked(site.db, Wanted(text="portal.example.org"))

    assert found == [row["id"] for row in expected]


def test_jobs_that_finished_in_the_same_moment_are_not_skipped(site, monkeypatch):
    monkeypatch.setattr(job_list, "PAGE", 3)
    site.db.run_statement(
        "UPDATE work_queue SET finished_at = '2026-01-01' WHERE id BETWEEN 10 AND 30"
    )

    assert len(walked(site.db, Wanted(State.DONE))) == 60


def test_a_group_task_and_site_are_filters(site):
    assert len(walked(site.db, Wanted(group="b81e07d400000002"))) == 5
    assert len(walked(site.db, Wanted(State.ERROR, task="price"))) == 8
    assert len(walked(site.db, Wanted(site="www.Portal.example.org"))) == 35


@pytest.mark.parametrize("text", ["61", "#61", "key-61"])
def test_a_search_by_number_or_key_leads_to_the_job(site, text):
    answer = site.client().get("/jobs", query_string={"text": text})

    assert answer.location == "/jobs/61"


@pytest.mark.parametrize("after", ["x", "1.2.3", "99999999999999999999.1", "-1", "'", "9" * 60])
@pytest.mark.parametrize("state", list(State))
def test_a_place_that_makes_no_sense_is_refused(site, state, after):
    answer = site.client().get("/api/v1/jobs", query_string={"state": state, "after": after})

    assert answer.status_code == 400
    assert "is no place in this list" in answer.json["error"]


def test_a_percent_sign_in_a_search_means_itself(site):
    assert walked(site.db, Wanted(text="100%_\\")) == []


def test_the_filters_stay_in_the_links(site, monkeypatch):
    monkeypatch.setattr(job_list, "PAGE", 3)

    page = site.client().get("/jobs?state=error&task=price").text

    following = re.search(r'rel="next" href="([^"]+)"', page)[1].replace("&amp;", "&")
    assert "state=error" in following
    assert "task=price" in following
    assert site.client().get(following).status_code == 200


def test_secrets_of_a_payload_are_masked_in_lists(site):
    page = site.client().get("/jobs?state=error").text

    assert "hunter2-secret" not in page
    assert "hunter2-secret" not in site.client().get("/api/v1/jobs?state=error").text


def test_queue_and_batch_are_filters_and_follow_ups_are_linked(site):
    site.db.run_statement("UPDATE work_queue SET queue = 'quick', batch = 'b' WHERE id IN (3, 5)")
    site.db.run_statement(
        "UPDATE work_queue SET parent_id = 3, root_id = 2, depth = 4 WHERE id = 5"
    )

    assert walked(site.db, Wanted(queue="quick")) == [5, 3]
    assert walked(site.db, Wanted(batch="b", queue="default")) == []
    child = site.client().get("/jobs/5").get_data(as_text=True)
    assert '<a href="/jobs/3">job 3</a>, depth 4, first: <a href="/jobs/2">job 2</a>' in child
    assert '<a href="/jobs?queue=quick">quick</a>' in child
    parent = site.client().get("/jobs/3").get_data(as_text=True)
    assert "Has added" in parent
    assert 'href="/jobs/5"' in parent
