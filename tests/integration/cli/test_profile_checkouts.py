"""Profiles in people's hands: kept for longer, overdue, opened, and never somebody else's."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.browser.vendor_dialects import DIALECTS
from tests.browser.vendor_server import EMAIL, PASSWORD, VendorServer
from tests.integration.profile_cli import refused, said
from tests.integration.profile_fixtures import closed_now, events, state
from worker.profiles import leases, store
from worker.recovery.sweep import sweep_leases

OVERDUE = "UPDATE profile_leases SET expires_at = UTC_TIMESTAMP(6) - INTERVAL 90 SECOND"


@pytest.fixture
def overdue(database, add, queue) -> int:
    """A profile that a person should have returned, and the job that waits for it."""
    add("p1")
    store.check_out(database, "p1", person="eve@night", seconds=60, reason="a look")
    database.run_statement(OVERDUE)
    return queue.enqueue("visit", {"url": "about:blank"}, profile_id="p1")


def test_an_overdue_checkout_stays_the_persons(database, worker, overdue):
    assert sweep_leases(database) == []

    assert (state(database), len(leases.of_profile(database, "p1"))) == ("leased", 1)
    assert worker.claim_now() is None
    closed = closed_now(database)["profile:p1"]
    assert closed.seconds is None
    assert closed.reason == "profile p1 is checked out and overdue (eve@night (a look))"


def test_an_overdue_checkout_is_shown_everywhere(cli, overdue):
    assert "1 of 1, OVERDUE" in said(cli("profiles", "list"))
    assert "OVERDUE by 1 m 3" in said(cli("profiles", "show", "p1"))
    assert "checkout p1: checked out by eve@night (a look), and overdue" in said(cli("todo"))
    assert "OVERDUE: 1 checkout; see: launcher.py todo" in said(cli("status"))
    told = said(cli("why", overdue))
    assert "checked out and overdue (eve@night (a look))" in told
    assert "next check" not in told
    assert json.loads(said(cli("status", "--json")))["checkouts_overdue"] == 1


def test_a_checkout_is_extended_from_its_end_or_from_now(cli, database, overdue):
    told = said(cli("profiles", "checkout", "p1", "--extend", "1h"))

    assert told.startswith("profile p1 is checked out by eve@night (a look) until ")
    (lease,) = leases.of_profile(database, "p1")
    assert 3500 < float(lease["left_seconds"]) <= 3600
    said(cli("profiles", "checkout", "p1", "--extend", "1h", "--json"))
    (lease,) = leases.of_profile(database, "p1")
    assert 7100 < float(lease["left_seconds"]) <= 7200
    assert events(database)[-2:] == ["extended", "extended"]


def test_a_bad_checkout_is_one_line_and_changes_nothing(cli, database, add, overdue):
    add("p2")
    before = events(database), events(database, "p2")

    for wrong in (
        ("p2", "--extend", "1h"),
        ("p1", "--extend", "31d"),
        ("p1", "--extend", "0"),
        ("p1", "--extend", "1h", "--for", "1h"),
        ("nobody", "--extend", "1h"),
        ("p1",),
        ("p2", "--for", "0"),
    ):
        assert len(refused(cli("profiles", "checkout", *wrong)).splitlines()) == 1, wrong

    assert (events(database), events(database, "p2")) == before


@pytest.mark.parametrize("name", ["kameleo", "multilogin", "adspower"])
def test_a_vendors_profile_that_somebody_runs_is_not_checked_out(
    cli, database, add, tmp_path, name
):
    vendor = VendorServer(DIALECTS[name], tmp_path / "vendor")
    try:
        add("k1", provider=name, vendor_id="v-1", endpoint=vendor.url)
        variables = {
            "NIGHTSHIFT_MULTILOGIN_EMAIL": EMAIL,
            "NIGHTSHIFT_MULTILOGIN_PASSWORD": PASSWORD,
            "NIGHTSHIFT_MULTILOGIN_API_URL": vendor.url,
        }
        vendor.start_profile("v-1")
        before = events(database, "k1")

        line = refused(cli("profiles", "checkout", "k1", **variables))
        assert "runs now, and nobody here holds it: somebody else's session" in line
        assert len(line.splitlines()) == 1

        assert (state(database, "k1"), events(database, "k1")) == ("available", before)
        assert (vendor.is_running("v-1"), vendor.count("stop")) == (True, 0)
        vendor.running.pop("v-1").stop()
        assert said(cli("profiles", "checkout", "k1", **variables))
    finally:
        vendor.close()


def test_a_vendor_that_does_not_answer_keeps_nobody_from_a_checkout(cli, add, closed_port):
    add("k1", provider="kameleo", vendor_id="v-1", endpoint=f"http://127.0.0.1:{closed_port}")

    answer = cli("profiles", "checkout", "k1")

    assert "k1 is yours until" in said(answer)
    assert "nobody knows whether the profile runs now" in answer.stderr


def test_opening_says_in_one_line_what_is_missing(cli, database, add, tmp_path):
    add("p1", folder=tmp_path / "p1")
    add("far", provider="cdp", endpoint="http://127.0.0.1:9222")
    add("lost", proxy="gone")
    before = events(database)
    shell = tmp_path / "bin"
    shell.mkdir()
    python = Path(os.sys.executable)  # type: ignore[attr-defined]
    (shell / "python3").symlink_to(python)
    nowhere = {"DISPLAY": None, "WAYLAND_DISPLAY": None}
    no_windows = {"DISPLAY": ":99", "PATH": str(shell), "HOME": str(tmp_path)}

    for profile, environment, told in (
        ("p1", nowhere, "there is no display"),
        ("p1", no_windows, "no Chromium with windows found"),
    ):
        answer = cli("profiles", "open", profile, **environment)
        assert (answer.returncode, answer.stdout) == (69, "")
        assert told in answer.stderr
        assert len(answer.stderr.splitlines()) == 1
    assert "check it out and open it there" in refused(cli("profiles", "open", "far"))
    assert "gone" in refused(cli("profiles", "open", "lost"))
    elsewhere = cli("profiles", "open", "p1", NIGHTSHIFT_HOST="night-2")
    assert "lives on" in refused(elsewhere)

    assert events(database) == before


def test_why_and_the_wait_reason_that_is_shown_agree(cli, database, add, queue):
    add("p1")
    job = queue.enqueue("visit", {"url": "about:blank"}, profile_id="p1")
    store.check_out(database, "p1", person="eve@night", seconds=60, reason="")
    # Found when it was last tried; by now it waits for something else.
    database.run_statement("UPDATE work_queue SET wait_reason = 'profile p1 is in use'")
    database.run_statement(OVERDUE)

    shown = json.loads(said(cli("show", job, "--json")))["job"]["wait_reason"]

    assert shown == "profile p1 is checked out and overdue (eve@night)"
    assert said(cli("why", job)) == f"job {job} waits because {shown}"
    assert f"  waits      {shown}" in said(cli("show", job))
    store.give_back(database, "p1", by="me")
    assert json.loads(said(cli("show", job, "--json")))["job"]["wait_reason"] is None
