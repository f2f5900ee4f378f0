"""*Job*: what changed, all attempts' steps, and everything of an attempt as a download."""

from __future__ import annotations

import io
import json
import re
import zipfile

import pytest

from tests.dashboard_site import made


@pytest.fixture
def own_site(server, tmp_path):
    with made(server, tmp_path) as site:
        yield site


def words(text):
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


def test_all_of_an_attempts_evidence_is_one_download(site):
    answer = site.client().get("/jobs/61/attempts/1/everything.zip")

    assert answer.headers["Content-Disposition"] == 'attachment; filename="job-61-1-evidence.zip"'
    assert answer.mimetype == "application/zip"
    folder = site.config.errors_dir / "61" / "1"
    with zipfile.ZipFile(io.BytesIO(answer.data)) as packed:
        assert packed.testzip() is None
        found = {info.filename: packed.read(info) for info in packed.infolist()}
        assert {info.external_attr >> 16 for info in packed.infolist()} == {0o600}
    assert found == {f"job-61-1/{path.name}": path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("path", ["61/attempts/2", "1/attempts/1", "99999/attempts/1"])
@pytest.mark.parametrize("what", ["everything.zip", "compare"])
def test_what_left_no_evidence_has_neither_download_nor_comparison(site, path, what):
    assert site.client().get(f"/jobs/{path}/{what}").status_code == 404


def test_the_html_is_compared_with_the_last_good_page(site):
    page = site.client().get("/jobs/61").text
    assert 'href="/jobs/61/attempts/1/compare"' in page
    assert "expect the same end, unless the task was mended" in page

    text = site.client().get("/jobs/61/attempts/1/compare").text

    assert "<del>&lt;p class=price&gt;€ 189.00&lt;/p&gt;</del>" in text
    assert "<ins>&lt;h1&gt;Sale&lt;/h1&gt;</ins>" in text


def test_without_one_of_the_pages_nothing_is_compared(own_site):
    (own_site.config.errors_dir / "61" / "1" / "good.html").unlink()

    assert "/compare" not in own_site.client().get("/jobs/61").text
    assert own_site.client().get("/jobs/61/attempts/1/compare").status_code == 404


def test_every_attempt_tells_its_steps_and_the_waits_between(own_site):
    first = own_site.config.errors_dir / "61" / "0"
    first.mkdir()
    steps = [{"at": "2026-11-19T23:46:07.244Z", "text": "the first try"}]
    (first / "error.json").write_text(json.dumps({"steps": steps}))
    own_site.db.run_statement(
        "INSERT INTO job_attempts (job_id, fence, attempt, outcome, worker_id, incarnation, "
        "started_at, finished_at, evidence, evidence_dir, evidence_host) SELECT job_id, 0, 0, "
        "'retry', 0, 1, started_at - INTERVAL 3 MINUTE, started_at - INTERVAL 2 MINUTE, '61/0', "
        "evidence_dir, evidence_host FROM job_attempts WHERE job_id = 61"
    )

    text = own_site.client().get("/jobs/61").text

    assert "the first try" in text
    assert re.search(r"opened\s*</span>\s*<span", text)
    assert "2026-11-19T" not in text
    local = own_site.app.extensions["nightshift"].clock.second_of("2026-11-19T23:46:07.244Z")
    assert f">{local}</span>" in text
    assert ">wait 2 min</text>" in text
    assert "Tried again after 2 min 00 s." in text


def test_facts_name_the_run_and_its_workers(site):
    assert "Run 2 , worker 1" in words(site.client().get("/jobs/61").text)


def test_a_run_of_days_ago_is_found_too(own_site):
    own_site.db.run_statement(
        "UPDATE runs SET started_at = started_at - INTERVAL 3 DAY, heartbeat_at = heartbeat_at - "
        "INTERVAL 3 DAY, ended_at = heartbeat_at WHERE id = 2"
    )
    own_site.db.run_statement(
        "UPDATE workers SET started_at = started_at - INTERVAL 3 DAY, ended_at = started_at"
    )
    own_site.forget()

    assert "Run 2 , worker 1" in words(own_site.client().get("/jobs/61").text)


def test_the_screenshot_says_when_and_how_large_and_requests_how_long(own_site):
    folder = own_site.config.errors_dir / "61" / "1"
    facts = json.loads((folder / "error.json").read_text())
    facts["finished"] = "2026-02-01T02:10:01.250Z"
    (folder / "error.json").write_text(json.dumps(facts))
    asked = {"at": 0.4, "took": 0.412, "status": 200, "method": "GET", "type": "document",
             "url": "https://a.example/", "headers": {"content-length": "38000"}}  # fmt: skip
    odd = {"at": 0.5, "took": "soon", "headers": {"content-length": "-1"}, "status": 200}
    (folder / "network.json").write_text(json.dumps({"responses": [asked, odd]}))

    text = own_site.client().get("/jobs/61").text

    assert "10:01, 320 × 200</b>" in text
    assert "412 ms" in text
    assert "38 kB" in text


def test_columns_that_were_not_recorded_are_not_there(site):
    text = site.client().get("/jobs/61").text

    assert "Took</th>" not in text
    assert "Size</th>" not in text
