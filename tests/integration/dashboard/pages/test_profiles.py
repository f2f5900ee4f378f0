"""The page of profiles: what waits for a person, as `todo` lists it, and what clearing lets go."""

from __future__ import annotations

import re

import pytest

from tests.browser.vendor_dialects import DIALECTS
from tests.browser.vendor_server import VendorServer
from tests.dashboard_site import made, send
from worker.history import todo
from worker.profiles import leases, store
from worker.profiles.doubts import HALF_DONE
from worker.profiles.states import State
from worker.profiles.store import NewProfile


@pytest.fixture
def own_site(server, tmp_path):
    with made(server, tmp_path) as site:
        site.db.run_statement("DELETE FROM profiles")
        yield site


def words(text):
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


def listed(page):
    """The rows of what waits for a person, as words."""
    part = page.partition('aria-labelledby="review"')[2].partition("</ul>")[0]
    return [words(row) for row in re.findall(r"<li>(.*?)</li>", part, re.DOTALL)]


def question(page, title):
    """The words of one question."""
    return words(page.partition(title)[2].partition("</form>")[0])


def shown(site):
    site.forget()
    return site.client().get("/profiles").text


def test_it_lists_what_todo_lists(own_site):
    db = own_site.db
    names = ("fine", "doorless", "held", "kept", "odd")
    store.add(db, [NewProfile(name, proxy="none") for name in names], "me")
    assert "5 profiles, and none waits for a person." in shown(own_site)
    db.run_statement("UPDATE profiles SET proxy = NULL WHERE id = 'doorless'")
    store.check_out(db, "held", person="eve", seconds=60, reason="a look")
    db.run_statement("UPDATE profile_leases SET expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR")
    db.run_statement("UPDATE profiles SET state = 'stale', stop_tries = 99, "
                     "state_reason = 'it does not stop' WHERE id = 'kept'")  # fmt: skip
    store.set_state(db, "odd", State.QUARANTINED, reason="a prompt", by="me")

    page = shown(own_site)

    assert "4 profiles wait for a person." in page
    items = {
        item.name for item in todo.everything(db).items if item.kind in ("profile", "checkout")
    }
    assert items == {"doorless", "held", "kept", "odd"}
    rows = listed(page)
    assert len(rows) == 4
    for name, said in (
        ("doorless", "launcher.py profiles set doorless --proxy …"),
        ("held", "overdue: it stays theirs"),
        ("kept", "it does not stop"),
        ("odd", "Quarantined: a prompt"),
    ):
        assert any(name in row and said in row for row in rows), (name, rows)
    assert "overdue since" in words(page.partition('id="all"')[2])
    send(own_site.client(), "/profiles/held/return")
    assert leases.of_profile(db, "held") == []


def test_before_clearing_it_says_what_waits_and_what_may_be_half_done(own_site):
    db, half_done = own_site.db, own_site.night.half_done
    store.add(db, [NewProfile("odd", proxy="none"), NewProfile("calm", proxy="none")], "me")
    for name in ("odd", "calm"):
        store.set_state(db, name, State.QUARANTINED, reason="a prompt", by="me")
    db.run_statement("INSERT INTO work_queue (id, payload, profile_id) VALUES "
                     "(9001, '{}', 'odd'), (9002, '{}', 'odd')")  # fmt: skip
    db.run_statement(f"UPDATE work_queue SET profile_id = 'odd' WHERE id = {half_done}")
    db.run_statement(
        "INSERT INTO profile_events (at, event, profile_id, job_id, author, reason) VALUES "
        f"(UTC_TIMESTAMP(6), 'doubted', 'odd', 9001, 'worker 1', 'ended at paying: {HALF_DONE}')"
    )

    page = shown(own_site)

    odd, calm = (question(page, f"Let jobs use {name} again?") for name in ("odd", "calm"))
    assert "2 pending jobs wait for it." in odd
    assert "1 job may be half done, and is tried again when it is clear: 9,001 ." in odd
    assert f"1 job may be half done and stays in error: {half_done} ." in odd
    assert "No pending job waits for it." in calm
    assert "half done" not in calm


def test_a_vendors_profile_that_somebody_runs_is_not_checked_out(own_site, tmp_path):
    vendor = VendorServer(DIALECTS["kameleo"], tmp_path / "vendor")
    try:
        new = NewProfile(
            "k1", provider="kameleo", vendor_id="v-1", endpoint=vendor.url, proxy="none"
        )
        store.add(own_site.db, [new], "me")
        vendor.start_profile("v-1")
        client = own_site.client()

        send(client, "/profiles/k1/check-out", **{"for": "1h"})

        assert "runs now, and nobody here holds it" in words(client.get("/profiles").text)
        assert leases.of_profile(own_site.db, "k1") == []
        vendor.running.pop("v-1").stop()
        send(client, "/profiles/k1/check-out", **{"for": "1h"})
        assert len(leases.of_profile(own_site.db, "k1")) == 1
    finally:
        vendor.close()
