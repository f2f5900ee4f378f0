"""*Timeline*: links to what it tells of, recovered jobs, the night before."""

from __future__ import annotations

import re

import pytest

from tests.dashboard_site import made


@pytest.fixture
def own_site(server, tmp_path):
    with made(server, tmp_path) as site:
        yield site


def words(text):
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


def test_the_first_of_a_group_leads_to_it_and_says_when_it_is_new(site):
    text = site.client().get("/timeline").text

    line = re.search(r'<a href="/errors\?range=all#g-3f9a1c2e00000001">First of 8.*?</li>', text)[0]
    new = {
        group.key: group.is_new for group in site.app.extensions["nightshift"].facts.get().groups
    }
    assert ("NEW</b>" in line) == new["3f9a1c2e00000001"]


def test_facts_say_when_and_by_whom_and_workers_why_they_were_restarted(own_site):
    own_site.db.run_statement(
        "UPDATE workers SET ended_at = UTC_TIMESTAMP(6) - INTERVAL 31 MINUTE, "
        "ending = 'killed by SIGKILL, out of memory' WHERE id = 1"
    )
    own_site.forget()

    text = words(own_site.client().get("/timeline").text)

    assert re.search(r"1 outage , 44 s, at \d\d:\d\d", text)
    assert re.search(r"1 pause , 6 min, at \d\d:\d\d, by mara", text)
    assert re.search(r"1 breaker opened, .*, at \d\d:\d\d: portal.example.org", text)
    assert "1 restart of worker 0" in text
    assert "restarted: killed by SIGKILL, out of memory" in text


def test_restarts_of_one_worker_for_one_reason_are_one_line(own_site):
    own_site.db.run_statement(
        "INSERT INTO workers (id, run_id, slot, pid, pid_started, started_at) VALUES "
        "(9, 2, 0, 1, 1, UTC_TIMESTAMP(6) - INTERVAL 10 MINUTE)"
    )
    own_site.db.run_statement(
        "UPDATE workers SET ended_at = started_at + INTERVAL 1 MINUTE, ending = 'hung' "
        "WHERE id IN (1, 3)"
    )
    own_site.forget()

    text = words(own_site.client().get("/timeline").text)

    assert len(re.findall("Worker 0 restarted: hung", text)) == 1
    assert re.search(r"Worker 0 restarted: hung again at \d\d:\d\d", text)


def test_what_a_run_was_given_until_is_compared_with_its_end(own_site):
    own_site.db.run_statement("DELETE FROM runs WHERE id = 1")
    own_site.db.run_statement(
        "UPDATE runs SET heartbeat_at = UTC_TIMESTAMP(6), ended_at = UTC_TIMESTAMP(6), "
        "pulse = JSON_SET(pulse, '$.claims_for', 3600), summary = '{}' WHERE id = 2"
    )
    own_site.forget()

    text = own_site.client().get("/timeline").text

    assert re.search(r"Run 2 drained at \d\d:\d\d, (59|60) min before \d\d:\d\d\.", text) or (
        re.search(r"Run 2 drained at \d\d:\d\d, 1 h 00 min before \d\d:\d\d\.", text)
    )


def test_recovered_jobs_are_told_of_and_the_night_before_is_a_link(own_site):
    own_site.db.run_statement("UPDATE work_queue SET attempts = 2 WHERE id BETWEEN 59 AND 60")
    own_site.forget()
    client = own_site.client()

    text = client.get("/timeline").text

    assert "2 done by retry" in text
    link = re.search(r'href="(/timeline[^"]*)">← Night of \d+ \w+<', text)[1]
    assert client.get(link.replace("&amp;", "&")).status_code == 200
