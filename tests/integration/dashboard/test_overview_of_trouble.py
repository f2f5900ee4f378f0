"""What the first page tells of dead workers, failures, killed runs and unknown tasks."""

from __future__ import annotations

import re

import pytest

from tests.dashboard_site import made


@pytest.fixture
def own_site(server, tmp_path):
    with made(server, tmp_path) as site:
        yield site


def tiles(text):
    """The words of each worker's tile."""
    found = re.findall(r'<li class="(worker[^"]*)">(.*?)</li>', text, re.DOTALL)
    return [(kind, " ".join(re.sub(r"<[^>]+>", " ", inside).split())) for kind, inside in found]


def dead_tiles(site):
    site.forget()
    return [words for kind, words in tiles(site.client().get("/").text) if "dead" in kind]


def claim_by_the_dead(site, step=None):
    """Have worker 1 of the killed run hold the next job; its last beat told of none."""
    site.db.run_statement(
        "INSERT INTO workers (id, run_id, slot, pid, pid_started, started_at) "
        "VALUES (9, 1, 1, 1, 1, UTC_TIMESTAMP(6) - INTERVAL 90 MINUTE)"
    )
    job = site.night.running + 1
    site.db.run_statement(
        "UPDATE work_queue SET status = 'in_progress', worker_id = 1, incarnation = 9, fence = 1, "
        "attempts = 1, started_at = UTC_TIMESTAMP(6), irreversible_step = %(step)s, "
        "lease_until = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR WHERE id = %(job)s",
        {"step": step, "job": job},
    )
    return job


def test_a_dead_worker_was_at_what_the_database_says(own_site):
    first, second = dead_tiles(own_site)
    # What its last beat told of is another run's now.
    assert "holds no job" in first
    assert "holds no job" in second

    job = claim_by_the_dead(own_site)
    first, second = dead_tiles(own_site)
    assert "holds no job" in first
    assert f"It was at job {job} ; the job comes back by itself." in second

    own_site.db.run_statement(
        f"UPDATE work_queue SET attempts = 4, max_attempts = 4 WHERE id = {job}"
    )
    assert "the job will be ended as failed: " in dead_tiles(own_site)[1]


def test_a_dead_workers_job_at_an_irreversible_step_does_not_come_back(own_site):
    job = claim_by_the_dead(own_site, "submitting order")

    (told,) = [words for words in dead_tiles(own_site) if f"job {job}" in words]
    assert "step “submitting order”; that step is irreversible: the job may be half done" in told
    assert "comes back" not in told.replace("does not come back", "")

    page = own_site.client().get(f"/jobs/{job}").text
    assert f"<h1>Job {job} was broken off.</h1>" in page
    assert f"Job {job} is not running: " in page
    assert "is running" not in page


def test_a_failure_is_as_old_as_it_is_and_not_as_its_minute(own_site):
    own_site.db.run_statement("DELETE FROM runs")
    own_site.db.run_statement(
        "UPDATE work_queue SET finished_at = UTC_TIMESTAMP(6) - INTERVAL 40 SECOND "
        "WHERE status = 'error'"
    )
    own_site.db.run_statement(
        "UPDATE failure_groups SET last_seen = UTC_TIMESTAMP(6) - INTERVAL 40 SECOND"
    )
    own_site.db.run_statement(
        "UPDATE job_attempts a JOIN work_queue q ON q.id = a.job_id AND q.fence = a.fence "
        "SET a.finished_at = q.finished_at WHERE q.status = 'error'"
    )
    own_site.forget()

    text = " ".join(re.sub(r"<[^>]+>", " ", own_site.client().get("/").text).split())

    seconds = re.search(r"A job failed (?:(\d+) s|1 min) ago", text)
    assert seconds, text[:2000]
    assert int(seconds[1] or 60) >= 39


def test_jobs_of_an_unknown_task_go_on_with_a_run_that_knows_it(own_site):
    own_site.db.run_statement(
        "UPDATE runs SET tasks = '[\"visit\"]', "
        "pulse = JSON_SET(pulse, '$.has_strangers', TRUE) WHERE id = 2"
    )
    own_site.db.run_statement(
        "INSERT INTO work_queue (id, payload, task) VALUES (9100, '{}', 'unheard')"
    )
    own_site.forget()

    held = own_site.client().get("/").text.partition('id="held"')[2].partition("</section>")[0]

    (row,) = [each for each in held.split("</li>") if "&#39;unheard&#39;" in each]
    assert "Goes on when a run that does these jobs is started." in row
    assert "as soon as there is room" not in row


def test_a_killed_run_says_in_the_list_what_it_has_done(own_site):
    own_site.db.run_statement("UPDATE workers SET run_id = 1")
    own_site.forget()

    row = own_site.client().get("/workers").text.partition("/runs/1")[2].partition("</tr>")[0]

    figures = [int(each) for each in re.findall(r'<td class="num">(\d+)</td>', row)]
    assert len(figures) == 2
    assert figures[0] > 50
