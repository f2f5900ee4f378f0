"""Queues, batches and schedules: what the page tells, and what it does."""

from __future__ import annotations

import re

import pytest

from tests.dashboard_site import made, send


@pytest.fixture
def site(server, tmp_path):
    with made(server, tmp_path) as found:
        yield found


def words(site, page):
    text = site.client().get(page).text
    return " ".join(re.sub(r"<[^>]+>", " ", text.partition("<main")[2]).split())


def run(site, sql):
    return site.db.run_statement(sql)


def test_each_queue_is_told_with_its_jobs_and_who_works_it(site):
    run(site, "INSERT INTO limits (name, concurrent, set_by, set_at) VALUES "
              "('queue:slow', 2, 'mara', UTC_TIMESTAMP(6))")  # fmt: skip
    told = words(site, "/queues")

    assert "default 24 1 run 2 – at work" in told
    assert "slow 6 0 run 2 2 at once at work" in told


def test_a_queue_that_nobody_works_is_said_to_be_so(site):
    run(site, "UPDATE runs SET queues = 'default'")

    assert re.search(r"slow 6 0 no run – waits", words(site, "/queues"))


def test_where_there_is_one_queue_its_jobs_are_counted_whole(site):
    run(site, "UPDATE runs SET queues = 'default'")
    run(site, "UPDATE work_queue SET queue = 'default'")
    told = words(site, "/queues")

    assert "default 30 1 run 2" in told
    assert "slow" not in told


def test_a_paused_queue_is_told_on_every_page_and_goes_on_when_it_is_resumed(site):
    client = site.client()

    send(client, "/queues/pause", queue="slow", reason="the portal asked us to")
    (row,) = run(site, "SELECT name, reason, set_by FROM control")
    assert row == {"name": "paused:slow", "reason": "the portal asked us to",
                   "set_by": "local (dashboard)"}  # fmt: skip
    for page in ("/", "/queues", "/jobs", "/timeline"):
        assert "Queue slow is paused" in words(site, page)
    # The pools as a whole are not paused.
    assert "Pause…" in client.get("/").text
    assert "Queue slow paused, and it goes on by local (dashboard)" in words(site, "/")
    # The sample's own pause is the only one that held everything up.
    assert "1 pause , 6 min" in words(site, "/timeline")

    send(client, "/queues/resume", queue="slow")

    assert run(site, "SELECT * FROM control") == []
    assert "Queue slow is paused" not in words(site, "/queues")
    found = run(site, "SELECT action, scope, number FROM audit ORDER BY id")
    assert [tuple(row.values()) for row in found] == [
        ("pause queue", "queue slow", 1),
        ("resume queue", "queue slow", 1),
    ]


@pytest.mark.parametrize("name", ["", "two words", "a,b", "x" * 51])
def test_what_is_no_queues_name_is_not_paused(site, name):
    client = site.client()
    send(client, "/queues/pause", queue=name)

    if len(name) <= 50:
        assert "Nothing was done" in client.get("/queues").text
        assert run(site, "SELECT * FROM control") == []


def test_batches_are_told_with_how_far_they_are(site):
    told = words(site, "/queues")

    assert "14 to go" in told
    assert "20 done, 5 failed , of 39 jobs" in told
    assert "10 done, 0 failed; finished" in told
    assert "sunday" in words(site, "/queues/batches")


def test_older_batches_are_on_pages_of_their_own(site):
    for number in range(60):
        run(site, f"INSERT INTO batches (name, created_at, created_by, finished_at, done, failed, "
                  f"cancelled) VALUES ('old-{number}', '2020-01-01', 'me', '2020-01-02', 1, 0, 0)")  # fmt: skip  # noqa: E501

    first = site.client().get("/queues/batches").text
    assert first.count("old-") == 2 * 50
    older = re.search(r"/queues/batches\?before=\d+", first)[0]
    second = site.client().get(older).text
    assert "old-9<" in second
    assert "monday" in second
    assert "old-59" not in words(site, "/queues")


def test_a_schedule_is_paused_resumed_and_run_now(site):
    client = site.client()
    jobs = "SELECT COUNT(*) AS n FROM work_queue"
    before = run(site, jobs)[0]["n"]

    send(client, "/schedules/pause", schedule="nightly")
    assert run(site, "SELECT is_paused FROM schedules WHERE name = 'nightly'")[0]["is_paused"]
    send(client, "/schedules/resume", schedule="nightly")
    assert not run(site, "SELECT is_paused FROM schedules WHERE name = 'nightly'")[0]["is_paused"]
    send(client, "/schedules/run-now", schedule="nightly")
    assert run(site, jobs)[0]["n"] == before + 2
    assert "Schedule nightly has added 2 jobs." in client.get("/queues").text

    send(client, "/schedules/run-now", schedule="nobody's")
    assert "Nothing was done" in client.get("/queues").text


def test_a_schedule_that_nobody_has_seen_in_time_is_told(site):
    run(site, "UPDATE schedules SET next_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR "
              "WHERE name = 'nightly'")  # fmt: skip

    assert "and nobody has seen it: start a run, or launcher.py tick" in words(site, "/queues")


def test_a_job_links_to_who_added_it_and_what_it_has_added(site):
    page = site.client().get("/jobs/4").text

    assert 'Added by</dt><dd><a href="/jobs/1">' in page
    assert "Jobs it has added" in page
    for job in (5, 6, 7):
        assert f'href="/jobs/{job}"' in page
    assert 'href="/jobs?parent=4"' in page
    grandchild = site.client().get("/jobs/6").text
    assert 'href="/jobs/4">job 4</a>, depth 2, first: <a href="/jobs/1">job 1</a>' in grandchild


def listed(site, address):
    return [int(job) for job in re.findall(r'href="/jobs/(\d+)"', site.client().get(address).text)]


def test_the_list_of_jobs_goes_by_queue_batch_and_parent(site):
    assert listed(site, "/jobs?queue=slow") == [81, 80, 79, 78, 77, 76]
    assert listed(site, "/jobs?batch=sunday") == list(range(30, 20, -1))
    assert listed(site, "/jobs?batch=monday&state=error") == [111, 64, 63, 62, 61]
    assert listed(site, "/jobs?batch=monday&state=waiting") == [110, 109, 108, 107, 106]
    assert len(listed(site, "/jobs?batch=monday&state=ready")) == 9
    assert [job for job in listed(site, "/jobs?parent=1") if job != 1] == [4, 3, 2]
    assert [job for job in listed(site, "/jobs?parent=4&state=error") if job != 4] == []
    assert listed(site, "/jobs?batch=sunday&queue=slow") == []


def test_the_api_tells_the_same(site):
    told = site.client().get("/api/v1/queues").json

    assert [(each["name"], each["ready"], each["runs"]) for each in told["queues"]] == [
        ("default", 24, [2]),
        ("slow", 6, [2]),
    ]
    monday = next(each for each in told["batches"] if each["name"] == "monday")
    assert (monday["done"], monday["failed"], monday["unfinished"]) == (20, 5, 14)
    assert monday["is_whole"]
    assert [(each["name"], each["jobs"], each["is_paused"]) for each in told["schedules"]] == [
        ("nightly", 2, False),
        ("prices", 2, True),
    ]
