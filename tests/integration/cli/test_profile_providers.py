"""`profiles providers` and `ask`, and what `doctor` says of vendors: their own words, masked."""

from __future__ import annotations

import json

import pytest

from tests.browser.debug_browser import NoBrowser
from tests.browser.vendor_dialects import DIALECTS
from tests.browser.vendor_server import API_KEY, EMAIL, PASSWORD, VendorServer
from tests.integration.profile_cli import refused, said
from tests.integration.profile_fixtures import state
from worker.browser.providers.preset_file import preset_names

OWN = """
title = "My vendor"
base_url = "http://127.0.0.1:7777"
url_variable = "MY_VENDOR_URL"
endpoint_paths = ["port"]
start = { method = "POST", path = "/open/{id}" }
stop = { method = "POST", path = "/close/{id}" }
"""


@pytest.fixture
def vendor(tmp_path):
    servers = []

    def start(name: str) -> VendorServer:
        server = VendorServer(DIALECTS[name], tmp_path / "vendor", browser=NoBrowser)
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.close()


def test_all_vendors_are_listed_with_what_they_were_checked_against(cli):
    listed = said(cli("profiles", "providers"))

    assert all(f"\n{name} " in listed for name in preset_names())
    assert "its API documentation and samples *" in listed


def test_one_vendor_is_told_of_without_a_credential(cli):
    told = said(cli("profiles", "providers", "multilogin", NIGHTSHIFT_MULTILOGIN_TOKEN="t0k3n-x"))

    assert "3p only    HTTP 500 'profile already stopped'" in told
    assert "NIGHTSHIFT_MULTILOGIN_TOKEN is set" in told
    assert "NIGHTSHIFT_MULTILOGIN_EMAIL is not set" in told
    assert "t0k3n" not in told
    found = json.loads(said(cli("profiles", "providers", "gologin", "--json")))
    assert (found[0]["one_at_a_time"], found[0]["if_running"]) == (True, "restart")


def test_a_projects_own_vendor_is_listed_and_used(cli, database, tmp_path):
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "mine.toml").write_text(OWN)
    variables = {"NIGHTSHIFT_PROVIDERS_DIR": str(folder)}

    assert "My vendor" in said(cli("profiles", "providers", "mine", **variables))
    assert said(cli("profiles", "add", "p1", "--provider", "mine", "--vendor-id", "v", **variables))
    assert state(database) == "available"

    (folder / "mine.toml").write_text("title = 1")
    line = cli("profiles", "providers", **variables)
    assert (line.returncode, line.stderr.count("\n")) == (78, 1)
    assert "mine.toml: title must be a text" in line.stderr


def test_a_vendor_is_asked_how_a_profile_stands(cli, add, vendor):
    server = vendor("adspower")
    add("p1", provider="adspower", vendor_id="v-1", endpoint=server.url)
    add("p2", folder="/nowhere")

    answers = "AdsPower answers: profile p1 (adspower) is "
    assert said(cli("profiles", "ask", "p1")) == f"{answers}not running"
    server.start_profile("v-1")
    assert said(cli("profiles", "ask", "p1")) == f"{answers}running"
    assert "there is no vendor to ask" in refused(cli("profiles", "ask", "p2"))
    assert server.count("start") == server.count("stop") == 0


def test_a_vendors_own_words_are_quoted_in_one_line_without_our_secrets(cli, add, vendor):
    server = vendor("multilogin")
    add("p1", provider="multilogin", vendor_id="v-1", endpoint=server.url)
    variables = {
        "NIGHTSHIFT_MULTILOGIN_EMAIL": EMAIL,
        "NIGHTSHIFT_MULTILOGIN_PASSWORD": "not-the-password",
        "NIGHTSHIFT_MULTILOGIN_API_URL": server.url,
    }
    wrong = cli("profiles", "ask", "p1", **variables)
    assert (wrong.returncode, wrong.stdout) == (69, "")
    assert "Multilogin X refuses the sign-in (HTTP 401); look at NIGHTSHIFT_" in wrong.stderr
    assert "not-the-password" not in wrong.stderr

    variables["NIGHTSHIFT_MULTILOGIN_PASSWORD"] = PASSWORD
    assert "answers, signed in: profile p1" in said(cli("profiles", "ask", "p1", **variables))


def test_doctor_asks_each_vendor_once_and_names_what_it_says(cli, add, vendor, closed_port):
    server = vendor("browserbase")
    add("p1", "p2", provider="browserbase", vendor_id="v-1", endpoint=server.url)
    key = {"NIGHTSHIFT_BROWSERBASE_API_KEY": API_KEY}

    assert (
        "vendors: Browserbase answers: profile p1 (browserbase) is not running (2 profiles)"
        in cli("doctor", **key).stdout
    )
    assert server.calls == ["find"]
    wrong = cli("doctor", NIGHTSHIFT_BROWSERBASE_API_KEY="another-key")
    line = next(line for line in wrong.stdout.splitlines() if "vendors" in line)
    assert line.startswith("FAIL vendors: Browserbase does not say what runs of profile p1")
    assert "Unauthorized; look at NIGHTSHIFT_BROWSERBASE_API_KEY" in line
    assert "another-key" not in wrong.stdout + wrong.stderr

    add("p3", provider="dolphin", vendor_id="d", endpoint=f"http://127.0.0.1:{closed_port}")
    lost = cli("doctor", **key)
    assert lost.returncode == 69
    assert "Dolphin{anty} does not answer at http://127.0.0.1:" in lost.stdout


def test_what_becomes_of_a_running_profile_is_chosen_by_an_option(cli, add):
    flags = ("--provider", "gologin", "--vendor-id", "v", "--option")

    assert "one of restart, adopt, refuse" in refused(
        cli("profiles", "add", "g1", *flags, "if_running=maybe")
    )
    assert said(cli("profiles", "add", "g1", *flags, "if_running=refuse"))
    assert "is for vendors' profiles" in refused(
        cli("profiles", "add", "l1", "--option", "if_running=adopt")
    )


def test_a_profile_whose_sessions_have_names_runs_once_at_a_time(cli):
    flags = ("--provider", "browserbase", "--vendor-id", "c", "--max-active-runs", "2")

    assert "max_active_runs must be 1" in refused(cli("profiles", "add", "b1", *flags))


def test_why_a_profile_rests_is_shown_and_its_session_is_not(cli, database, add):
    add("p1", provider="browserbase", vendor_id="c")
    database.run_statement("UPDATE profiles SET vendor_session = 's3ss10n'")
    database.run_statement(
        "INSERT INTO breakers (name, state, window_start, openings, reason, until)"
        " VALUES ('profile:p1', 'open', UTC_TIMESTAMP(6), 1, 'it is open elsewhere',"
        " UTC_TIMESTAMP(6) + INTERVAL 1 HOUR)"
    )

    shown = said(cli("profiles", "show", "p1"))
    assert "resting   the breaker of profile:p1 is open: it is open elsewhere; again in" in shown
    told = said(cli("profiles", "show", "p1", "--json"))
    assert "it is open elsewhere" in told
    assert "s3ss10n" not in shown + told + said(cli("profiles", "list", "--json"))


@pytest.mark.parametrize("name", ["undetectable", "kameleo"])
def test_a_profile_that_is_open_elsewhere_is_not_checked_out(cli, add, vendor, name):
    server = vendor(name)
    server.locked = True
    add("p1", provider=name, vendor_id="p-1", endpoint=server.url)

    line = refused(cli("profiles", "checkout", "p1"))

    assert "is open elsewhere, and nobody here holds it" in line
    assert len(line.splitlines()) == 1


def test_an_address_with_a_login_is_named_without_it(cli, add):
    add("p1", provider="nstbrowser", vendor_id="v", endpoint="http://me:hunter2@127.0.0.1:1")

    answer = cli("profiles", "ask", "p1")

    assert "Nstbrowser does not answer at http://127.0.0.1:1 (ConnectError)" in answer.stderr
    assert "hunter2" not in answer.stderr
