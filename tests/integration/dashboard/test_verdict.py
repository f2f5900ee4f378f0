"""The verdict: one of four, by what the database says."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC

import pytest

from tests.dashboard_site import made
from worker.dashboard.overview import RANGES
from worker.reporting.night import window
from worker.reporting.night.gather import gather


@pytest.fixture
def site(server, tmp_path):
    with made(server, tmp_path) as found:
        yield found


def verdict(site):
    """Tell the page's verdict: the same whatever range it shows, and of the report's kind."""
    site.forget()
    pages = {key: site.client().get(f"/?range={key}").text for key in RANGES}
    titles = {page.partition("<h1>")[2].partition("</h1>")[0] for page in pages.values()}
    night = gather(site.db, window.since(site.db, "14h", UTC), site.config.errors_dir)
    assert len(titles) == 1, titles
    (title,) = titles
    assert title.startswith(night.verdict.level.value), night.verdict
    return title, pages["night"]


def run(site, sql):
    site.db.run_statement(sql)


def spare_the_failed(site):
    """Let so few have failed that it is no matter for tonight."""
    run(site, "DELETE FROM job_attempts")
    run(site, "UPDATE work_queue SET finished_at = '2020-01-01' WHERE status = 'error' AND id > 61")


def test_a_run_that_goes_well_lets_the_reader_sleep(site):
    run(site, "DELETE FROM runs WHERE id = 1")
    spare_the_failed(site)

    title, page = verdict(site)

    assert title == "Go back to sleep."
    assert "of 2 workers alive" in page


def test_what_was_done_after_a_retry_by_hand_has_not_failed(site):
    run(site, "DELETE FROM runs WHERE id = 1")
    assert verdict(site)[0] == "Look when you are up."

    # Their failures stay in the history, and in the figures of the night.
    run(site, "UPDATE work_queue SET status = 'done', irreversible_step = NULL "
              "WHERE status = 'error'")  # fmt: skip

    assert verdict(site)[0] == "Go back to sleep."


def test_a_dead_run_beside_a_live_one_wants_a_look(site):
    title, page = verdict(site)

    assert title == "Look when you are up."
    assert "Run 1 on night-2 is gone" in page


def test_a_killed_run_with_work_left_gets_the_reader_up(site):
    run(site, "DELETE FROM runs WHERE id = 2")

    title, page = verdict(site)

    assert title == "Get up: run 1 on night-2 was killed."
    assert "launcher.py run" in page


def test_a_silent_run_beside_a_live_one_means_that_nobody_can_tell(site):
    run(site, "UPDATE runs SET machine_id = 'other', boot_id = 'other', heartbeat_at = "
              "UTC_TIMESTAMP(6) - INTERVAL 50 SECOND WHERE id = 1")  # fmt: skip

    title, page = verdict(site)

    assert title == "Cannot tell."
    assert "There is no word from run 1 on night-2" in page
    assert "1 other run at work" in page


def end_the_run(site):
    run(site, "DELETE FROM runs WHERE id = 1")
    run(site, "UPDATE runs SET ended_at = UTC_TIMESTAMP(6), summary = '{\"done\": 1}'")
    run(site, "DELETE FROM work_queue WHERE status = 'in_progress'")
    run(site, "DELETE FROM breakers")


def test_jobs_that_nobody_works_at_get_the_reader_up(site):
    end_the_run(site)

    title, page = verdict(site)

    assert re.fullmatch(r"Get up: \d+ jobs are left and nothing is running\.", title)
    assert "launcher.py run" in page


def test_jobs_that_all_wait_or_are_held_back_can_wait_for_the_morning(site):
    end_the_run(site)
    run(site, "UPDATE work_queue SET not_before = UTC_TIMESTAMP(6) + INTERVAL 5 HOUR "
              "WHERE status = 'pending'")  # fmt: skip
    assert verdict(site)[0] == "Look when you are up."
    run(site, "UPDATE work_queue SET not_before = NULL, account_id = NULL, profile_id = NULL, "
              "payload = '{\"url\": \"https://portal.example.org/\"}' "
              "WHERE status = 'pending' LIMIT 5")  # fmt: skip
    run(site, "INSERT INTO breakers (name, state, failures, window_start, openings, opened_at, "
              "until, reason) VALUES ('site:portal.example.org', 'open', 8, UTC_TIMESTAMP(6), 1, "
              "UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, 'refused')")  # fmt: skip

    title, page = verdict(site)
    assert title == "Look when you are up."
    assert "held back or waits for its time" in page
    run(site, "DELETE FROM breakers")
    assert verdict(site)[0].startswith("Get up: ")


def test_a_stalled_run_gets_the_reader_up(site):
    run(site, "DELETE FROM runs WHERE id = 1")
    run(site, "UPDATE work_queue SET finished_at = finished_at - INTERVAL 3 HOUR")
    run(site, "UPDATE job_attempts SET finished_at = finished_at - INTERVAL 3 HOUR")
    run(site, "UPDATE runs SET started_at = started_at - INTERVAL 6 HOUR")
    run(site, "DELETE FROM breakers")

    assert verdict(site)[0].startswith("Get up: nothing has finished")


def test_a_pause_wants_a_look_and_says_who(site):
    run(site, "INSERT INTO control VALUES ('paused', 'a look', 'mara', UTC_TIMESTAMP(6))")

    title, page = verdict(site)

    assert title == "Look when you are up."
    assert "by mara: “a look”" in page


def test_a_queue_that_is_done_lets_the_reader_sleep(site):
    run(site, "UPDATE runs SET ended_at = UTC_TIMESTAMP(6), summary = '{\"done\": 1}'")
    run(site, "DELETE FROM work_queue WHERE status <> 'done'")

    assert verdict(site)[0] == "Go back to sleep."


def test_many_failures_want_a_look_though_the_run_goes_on(site):
    run(site, "DELETE FROM runs WHERE id = 1")

    title, page = verdict(site)

    assert title == "Look when you are up."
    assert "jobs that ended in the last hour have failed." in page or (
        "jobs that ended have failed." in page
    )


def test_a_few_failures_of_a_finished_night_let_the_reader_sleep(site):
    run(site, "UPDATE runs SET ended_at = UTC_TIMESTAMP(6), summary = '{\"done\": 1}'")
    run(site, "DELETE FROM work_queue WHERE status IN ('pending', 'in_progress')")
    spare_the_failed(site)

    title, page = verdict(site)

    assert title == "Go back to sleep."
    assert "15 jobs failed, in 4 groups" in page


def test_failures_of_a_finished_night_are_for_the_morning(site):
    run(site, "UPDATE runs SET ended_at = UTC_TIMESTAMP(6), summary = '{\"done\": 1}'")
    run(site, "DELETE FROM work_queue WHERE status IN ('pending', 'in_progress')")

    title, page = verdict(site)

    assert title == "Look when you are up."
    assert "15 jobs failed, in 4 groups" in page


def test_a_run_that_will_not_be_ready_in_time_gets_the_reader_up(site):
    run(site, "DELETE FROM runs WHERE id = 1")
    spare_the_failed(site)
    # It beats two hours ahead, and stops in half an hour: ten thousand jobs are far too many.
    run(site, "UPDATE runs SET pulse = JSON_SET(pulse, '$.claims_for', 1800 - 7200)")
    run(site, "UPDATE runs SET pulse = JSON_SET(pulse, '$.pending', 10000, '$.in_progress', 1, "
              "'$.waiting', 0, '$.held_back', 0, '$.held_because', '')")  # fmt: skip

    title, page = verdict(site)

    assert re.fullmatch(r"Get up: it will not be ready by \d\d:\d\d\.", title)
    assert "too long" in page
    assert "stops by" in page
    assert site.client().get("/api/v1/status").json["deadline"].endswith(":00Z")


def test_a_run_that_will_be_ready_in_time_says_by_how_much(site):
    run(site, "DELETE FROM runs WHERE id = 1")
    spare_the_failed(site)
    run(site, "UPDATE runs SET pulse = JSON_SET(pulse, '$.claims_for', 36000 - 7200)")

    title, page = verdict(site)

    assert title == "Go back to sleep."
    assert re.search(r"will be ready at \d\d:\d\d, \d h \d\d min before \d\d:\d\d\.", page)


def test_a_database_that_does_not_answer_gets_the_reader_up(site):
    connections = site.app.extensions["nightshift"].connections
    connections.close()
    connections._settings = replace(connections._settings, unix_socket="/nowhere")

    answer = site.client().get("/")

    assert answer.status_code == 503
    assert "Get up: the database does not answer." in answer.text
    assert site.client().get("/readyz").status_code == 503
    assert site.client().get("/healthz").status_code == 200


def test_a_connection_that_died_while_it_was_idle_costs_no_request(site):
    client = site.client()
    assert client.get("/").status_code == 200
    me = site.db.run_statement("SELECT CONNECTION_ID() AS id")[0]["id"]
    for row in site.db.run_statement("SHOW PROCESSLIST"):
        if row["Command"] == "Sleep" and row["Id"] != me and row["db"] == site.db.settings.database:
            site.db.run_statement(f"KILL {row['Id']}")

    answers = [client.get(path) for path in ("/", "/limits", "/workers")]

    assert [answer.status_code for answer in answers] == [200, 200, 200]


def test_the_tiles_add_up_to_the_jobs_in(site):
    found = site.db.run_statement("SELECT COUNT(*) AS n FROM work_queue")[0]["n"]

    assert f"{found} jobs in" in verdict(site)[1]
