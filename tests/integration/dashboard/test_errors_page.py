"""*Errors* says which group is worth a retry now, and offers it only there."""

from __future__ import annotations

import re

import pytest

from tests.dashboard_site import made

PRICE, VISIT, INVOICE = "3f9a1c2e00000001", "b81e07d400000002", "5c20aa9100000003"


@pytest.fixture
def own_site(server, tmp_path):
    with made(server, tmp_path) as site:
        # The sample's shop has them all; its portal has a breaker.
        site.db.run_statement(
            "UPDATE work_queue SET payload = REPLACE(payload, 'shop.', 'portal.') "
            "WHERE fingerprint = %(group)s", {"group": VISIT},
        )  # fmt: skip
        site.db.run_statement(
            "UPDATE work_queue SET payload = REPLACE(payload, '.com', '.org') "
            "WHERE fingerprint = %(group)s", {"group": VISIT},
        )  # fmt: skip
        for row in site.db.run_statement("SELECT id FROM work_queue WHERE fingerprint = %(group)s",
                                         {"group": VISIT}):  # fmt: skip
            (site.config.errors_dir / str(row["id"]) / "1" / "error.json").unlink()
        yield site


def words(text):
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


def article(text, key):
    return text.partition(f'id="g-{key}"')[2].partition("</article>")[0]


def main_buttons(text):
    return [key for key in (PRICE, VISIT, INVOICE) if 'class="btn main"' in article(text, key)]


def close_breaker(site):
    site.db.run_statement("DELETE FROM breakers")
    site.db.run_statement(
        "UPDATE events SET ended_at = UTC_TIMESTAMP(6) - INTERVAL 30 SECOND WHERE kind = 'breaker'"
    )
    site.db.run_statement(
        "UPDATE work_queue SET payload = REPLACE(payload, 'shop.example.com', 'portal.example.org')"
        ", finished_at = UTC_TIMESTAMP(6) WHERE id IN (1, 2, 3)"
    )
    site.forget()


def test_where_nothing_would_help_it_says_why_and_no_button_is_blue(own_site):
    text = own_site.client().get("/errors").text

    assert "No retry is likely to help yet." in text
    assert "5 wait for a site that is left alone for now." in text
    assert "2 need a person." in words(text)
    assert main_buttons(text) == []
    assert "The page has changed; a retry is likely to fail" in article(text, PRICE)
    assert "Nightshift looks again by itself at" in article(text, VISIT)
    assert "Needs a person: profile acme-07 is set aside." in article(text, INVOICE)
    # The question before a retry says so once more.
    question = text.partition(f'id="all-{PRICE}"')[2].partition("</form>")[0]
    assert "The page has changed; a retry is likely to fail the same way." in question


def test_a_site_that_answers_again_is_the_headline_and_has_the_blue_button(own_site):
    close_breaker(own_site)

    text = own_site.client().get("/errors").text

    assert "14 failed" not in text
    assert "One is worth a retry now." in text
    assert main_buttons(text) == [VISIT]
    assert "3 jobs of this site are done since" in article(text, VISIT)
    assert "likely" not in text.partition(f'id="all-{VISIT}"')[2].partition("</form>")[0]


def age(site, which, params=None):
    """Let some jobs have failed three days ago."""
    site.db.run_statement(
        "UPDATE work_queue SET finished_at = finished_at - INTERVAL 3 DAY "
        f"WHERE status = 'error' AND {which}", params or {},
    )  # fmt: skip
    site.forget()


def test_of_a_group_that_failed_in_other_nights_too_this_nights_jobs_are_counted(own_site):
    of_group = [
        row["id"]
        for row in own_site.db.run_statement(
            "SELECT id FROM work_queue WHERE fingerprint = %(group)s ORDER BY id", {"group": PRICE}
        )
    ]
    failed = own_site.db.run_statement("SELECT COUNT(*) AS n FROM work_queue WHERE status='error'")
    age(own_site, "id = %(id)s", {"id": of_group[0]})
    client = own_site.client()

    tonight, week, everything = (
        words(client.get(f"/errors?range={name}").text) for name in ("night", "week", "all")
    )
    jobs = failed[0]["n"]
    assert f"{jobs - 1} failed, in " in tonight
    assert f"{len(of_group)} are in error in all" in tonight
    assert f"{jobs} failed, in " in week
    assert f"{jobs} failed, in " in everything
    assert "are in error in all" not in everything
    overview = words(client.get("/").text)
    assert re.search(rf"For the morning: {jobs - 1} failed in \d groups.*; 1 before this", overview)


def test_this_nights_groups_are_shown_first_and_the_earlier_ones_are_counted(own_site):
    age(own_site, "fingerprint = %(group)s", {"group": PRICE})
    client = own_site.client()

    shown = client.get("/errors").text
    everything = client.get("/errors?range=all").text

    assert article(shown, PRICE) == ""
    assert "1 earlier group" in shown
    assert article(everything, PRICE) != ""
    # Other pages lead to a group wherever it is.
    assert f'href="/errors?range=all#g-{PRICE}"' in client.get("/").text
    assert f'href="/errors?range=all#g-{PRICE}"' in client.get("/jobs/61").text


def test_a_night_without_failures_shows_all_of_them_at_once(own_site):
    own_site.db.run_statement("DELETE FROM work_queue WHERE irreversible_step IS NOT NULL")
    age(own_site, "TRUE")
    client = own_site.client()

    assert article(client.get("/errors").text, PRICE) != ""
    assert "No job has failed this night." in client.get("/errors?range=night").text


def test_it_tells_of_recovered_jobs_of_nights_and_of_the_run(own_site):
    own_site.db.run_statement("UPDATE work_queue SET attempts = 2 WHERE id BETWEEN 59 AND 60")
    own_site.db.run_statement(
        "UPDATE work_queue SET finished_at = finished_at - INTERVAL 2 DAY WHERE id = 61"
    )
    own_site.db.run_statement("DELETE FROM runs WHERE id = 1")
    own_site.db.run_statement(
        "UPDATE runs SET ended_at = UTC_TIMESTAMP(6) - INTERVAL 5 MINUTE, "
        "summary = '{\"done\": 60}' WHERE id = 2"
    )
    own_site.forget()

    text = words(own_site.client().get("/errors?range=all").text)

    assert "2 by retry this night" in text
    assert "still in error from 2 of 7 nights" in text
    assert re.search(r"Run 2 ended at \d\d:\d\d: drained\.", text)
