"""A browser that may still run: a vendor's that was not stopped, a person's that is overdue."""

from __future__ import annotations

import signal

import pytest

from tests.browser.debug_browser import DebugBrowser
from tests.browser.vendor_dialects import DIALECTS, Reply
from tests.browser.vendor_server import VendorServer
from tests.lifecycle.conftest import wait_until
from tests.lifecycle.profiles.endings import events, title
from worker.profiles import store

pytestmark = pytest.mark.timeout(150)


@pytest.fixture
def vendor(tmp_path):
    server = VendorServer(DIALECTS["gologin"], tmp_path / "vendor")
    yield server
    server.close()


@pytest.mark.parametrize("how", ["refuses", "hangs"])
def test_a_stop_that_failed_leaves_the_profile_stale_until_it_is_stopped(
    launch, database, queue, add, enqueue, tasks, vendor, how
):
    vendor.hanging_stop = how == "hangs"
    vendor.stop_refusal = Reply(500, {"message": "out of order"}) if how == "refuses" else None
    add("p1", provider="gologin", vendor_id="v-1", endpoint=vendor.url)
    first, second = enqueue("who_am_i", "p1"), enqueue("who_am_i", "p1")
    run = launch("--workers", 1, "--tasks", tasks, "--follow")

    def profile():
        return store.get(database, "p1")

    # Once let go, and once more by the caretaker: neither makes it available.
    wait_until(lambda: profile()["stop_tries"] >= 2, "the caretaker has tried", 90)
    assert profile()["state"] == "stale"
    assert profile()["state_reason"].startswith("its browser may still run: GoLogin ")
    assert vendor.is_running("v-1")
    assert title(queue, first)
    assert (queue.get(second)["status"], vendor.count("start")) == ("pending", 1)

    vendor.hanging_stop, vendor.stop_refusal = False, None
    wait_until(lambda: queue.get(second)["status"] == "done", "the second job is done", 60)

    wait_until(lambda: profile()["state"] == "available", "it is available", 30)
    run.signal(signal.SIGTERM)
    assert run.wait(60) == 0
    assert events(database, "p1")[:5] == ["added", "leased", "released", "not_stopped", "checked"]
    assert "GoLogin has stopped its browser, which its last holder left running" in run.output
    assert profile()["stop_tries"] == 0
    assert not vendor.is_running("v-1")


def test_a_person_whose_checkout_runs_over_keeps_profile_and_browser(
    launch, database, queue, add, enqueue, tasks
):
    folder = add("p1")
    store.check_out(database, "p1", person="ada@desk", seconds=60, reason="")
    database.run_statement("UPDATE profile_leases SET expires_at = '2020-01-01'")
    browser = DebugBrowser(folder)
    try:
        job = enqueue("who_am_i", "p1")
        run = launch("--workers", 1, "--tasks", tasks, "--server-grace", "0s")

        assert run.wait(60) == 11
        assert "profile p1 is checked out and overdue (ada@desk)" in run.output
        assert browser.is_running
        assert (store.get(database, "p1")["state"], queue.get(job)["attempts"]) == ("leased", 0)
    finally:
        browser.stop()
    store.give_back(database, "p1", by="ada@desk")
    assert launch("--workers", 1, "--tasks", tasks).wait(60) == 0
    assert title(queue, job) == "log in"
