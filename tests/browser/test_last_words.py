"""A task that never comes back leaves what its browser had said, for whoever settles its job."""

from __future__ import annotations

import json
import time

from worker.browser import last_words

STEP = {"at": "2026-01-31T23:10:02.000Z", "text": "opened"}


def leave_words(session, site, kept) -> None:
    """Hang past a limit in a way that no killed browser ends."""
    page = session.page_for_job()
    page.goto(site.url("/spam"))
    with page.expect_request("**/never"):
        page.evaluate("() => { fetch('/never') }")
    limit = session.limit(0.5).also(
        lambda: last_words.keep(kept, session, job_id=7, fence=3, steps=[STEP])
    )
    with limit:
        deadline = time.monotonic() + 30
        while not kept.exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_the_words_of_a_stuck_task_are_taken_over_by_its_own_claim(session, site, tmp_path):
    kept, folder = last_words.path_of(tmp_path, "queue", 5), tmp_path / "2"
    leave_words(session, site, kept)
    folder.mkdir()

    of_another = last_words.take_over(kept, job_id=7, fence=4, folder=folder)
    assert (of_another, list(folder.iterdir())) == ({}, [])
    facts = last_words.take_over(kept, job_id=7, fence=3, folder=folder)

    assert facts == {"final_url": site.url("/spam"), "steps": [STEP]}
    assert "line 999" in (folder / "console.log").read_text()
    assert "\x1b" not in (folder / "console.log").read_text()
    network = json.loads((folder / "network.json").read_text())
    assert [request["url"] for request in network["pending"]] == [site.url("/never")]


def test_there_may_be_no_words(tmp_path):
    kept = tmp_path / "words.json"
    assert last_words.take_over(kept, job_id=7, fence=3, folder=tmp_path) == {}
    kept.write_text("{")

    assert last_words.take_over(kept, job_id=7, fence=3, folder=tmp_path) == {}
