"""A filter that makes no sense is refused with one sentence: it is not taken for none."""

from __future__ import annotations

import pytest

WRONG = (
    *("/jobs?state=foo", "/jobs?parent=x", "/jobs?after=x", "/jobs?after=%00"),
    *("/profiles?state=foo", "/workers?before=abc", "/audit?before=-1", "/queues/batches?before=x"),
    *("/?range=foo", "/errors?range=foo", "/timeline?range=foo", "/timeline?until=soon"),
    *("/api/v1/jobs?state=xx", "/api/v1/jobs?after=%00", "/api/v1/runs?before=abc"),
    *("/api/v1/audit?before=1e3", "/api/v1/runs?before=99999999999999999999"),
)


@pytest.mark.parametrize("path", WRONG)
def test_a_wrong_filter_is_refused(site, path):
    answer = site.client().get(path)

    assert answer.status_code == 400
    said = answer.json["error"] if path.startswith("/api/") else answer.text
    name = path.split("?")[1].split("=")[0]
    assert f"{name}=" in said


@pytest.mark.parametrize(
    "path", ["/jobs?state=", "/profiles?state=&after=", "/api/v1/runs?before="]
)
def test_an_empty_filter_asks_nothing(site, path):
    assert site.client().get(path).status_code == 200


@pytest.mark.parametrize("run", [99, 10**20 - 1])
def test_a_run_that_is_not_there_is_not_found(site, run):
    answer = site.client().get(f"/runs/{run}")

    assert answer.status_code == 404
    assert f"There is no run {run}." in answer.text


def test_whether_a_group_is_new_is_true_or_false(site):
    groups = site.client().get("/api/v1/errors").json["groups"]

    assert {type(group["is_new"]) for group in groups} == {bool}
